"""What tests share and is no fixture.

- `board_client`: A board that is served, and a client of it, for tests.
- `board_page`: The page of `kibitz board` as a person uses it: by what is seen and said, seldom by how it is made.
- `browser_games`: Games that the tests in a browser open.
- `chess_fakes`: Networks that need no training: deterministic policies, and material as the value.
- `comparison_fakes`: Comparers that need no training: a linear function of the bits, whose order is transitive, and dr
- `go_diagrams`: Final positions drawn by hand on 9 × 9 (X Black, O White), and batches of games that end in them.
- `go_fakes`: Networks of Go that need no training: owners that a test writes down, or that follow from the stones.
- `go_oracle`: The slow, obviously right twin of the fast loops: sgfmill's board, and random legal games on it.
- `gtp_faults`: A GTP program that behaves as its first argument says; the second is a folder where it notes what it wa
- `gtp_player`: A GTP program that plays at random, up to its fault at a move: python gtp_fake.py FAULT AT.
- `helpers`: What several tests share and is no fixture.
- `light`: What kibitz does without the extra `train`, command by command, and how a test drives it.
- `random_lines`: Random lines of both games, for tests of the board.
"""
