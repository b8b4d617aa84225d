import itertools
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.store.positions import permutation
from kibitz.training.dataloader import N_READY, ahead, batches_in_epoch, make_batch, prefetch_batches


class Numbers:
    """Examples that are their own numbers."""

    def __init__(self, size: int):
        self.size = size

    def __len__(self) -> int:
        return self.size

    def batch(self, numbers: NDArray[np.int64], epoch: int) -> dict[str, NDArray[np.int64]]:
        return {"number": numbers, "epoch": np.full(len(numbers), epoch)}


class Watched(Numbers):
    """Examples that remember the thread that makes batches of them, and how many it has made."""

    maker: threading.Thread | None = None
    made = 0

    def batch(self, numbers: NDArray[np.int64], epoch: int) -> dict[str, NDArray[np.int64]]:
        self.maker = threading.current_thread()
        self.made += 1
        return super().batch(numbers, epoch)


def test_an_epoch_shows_each_example_at_most_once_and_nearly_all() -> None:
    seen = torch.cat(
        [batch["number"] for batch in prefetch_batches(Numbers(1000), 64, 5, 0, batches_in_epoch(1000, 64))]
    )
    assert len(seen) == 960
    assert len(seen.unique()) == 960


def test_any_batch_can_be_made_alone() -> None:
    all_of_them = list(prefetch_batches(Numbers(777), 32, 1, 0, 60))
    assert len(all_of_them) == 60
    for i, batch in itertools.chain(
        enumerate(all_of_them), zip(range(50, 60), prefetch_batches(Numbers(777), 32, 1, 50, 60), strict=True)
    ):
        assert torch.equal(batch["number"], make_batch(Numbers(777), 32, 1, i)["number"])


def test_epochs_differ_and_are_told() -> None:
    first, second = make_batch(Numbers(100), 100, 0, 0), make_batch(Numbers(100), 100, 0, 1)
    assert (first["epoch"] == 0).all()
    assert (second["epoch"] == 1).all()
    assert not torch.equal(first["number"], second["number"])
    assert torch.equal(first["number"].sort()[0], second["number"].sort()[0])


def test_fewer_examples_than_a_batch_are_one_batch() -> None:
    assert len(make_batch(Numbers(10), 64, 0, 3)["number"]) == 10


@pytest.mark.parametrize("threads", [1, 2])
def test_so_many_batches_are_asked_for_ahead(threads: int) -> None:
    asked: list[int] = []

    def iterations() -> Iterator[int]:
        for i in range(20):
            asked.append(i)
            yield i

    feed = ahead(lambda i: {"i": torch.tensor(i)}, iterations(), threads)
    for i in range(20):
        assert next(feed)["i"] == i
        assert len(asked) == min(20, i + 1 + N_READY * threads)
    assert next(feed, None) is None


def test_the_batch_of_an_iteration_is_a_stretch_of_its_epochs_order() -> None:
    whole = permutation(100, 3, 2, 0, 100)
    for index in range(6):
        batch = make_batch(Numbers(100), 16, 3, 2 * 6 + index)
        assert (batch["epoch"] == 2).all()
        assert batch["number"].tolist() == whole[16 * index : 16 * index + 16].tolist()


@pytest.mark.parametrize("world", [1, 2, 3, 16])
def test_processes_share_a_batch(world: int) -> None:
    whole = make_batch(Numbers(100), 16, 3, 8)
    parts = [make_batch(Numbers(100), 16, 3, 8, rank, world) for rank in range(world)]
    for name in ("number", "epoch"):
        assert torch.cat([part[name] for part in parts]).tolist() == whole[name].tolist()
    sizes = [len(part["number"]) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_fewer_examples_than_processes_are_refused() -> None:
    assert len(make_batch(Numbers(3), 16, 0, 0, 2, 3)["number"]) == 1
    with pytest.raises(KibitzError, match=r"--batch .*3 examples.*4 processes"):
        make_batch(Numbers(3), 16, 0, 0, 2, 4)


def test_a_feed_that_is_left_early_ends_its_thread() -> None:
    examples = Watched(1000)
    batches = prefetch_batches(examples, 10, 0, 0, 100)
    next(batches)
    assert examples.maker is not None
    assert examples.maker.is_alive()
    batches.close()
    assert not examples.maker.is_alive()
    assert examples.made < 100
