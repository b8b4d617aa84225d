# kibitz in a container. Build: docker build -t kibitz .    Run: docker run -p 127.0.0.1:8000:8000 kibitz board
# Your own files: docker run -v "$PWD:/games" kibitz analyze human /games/my-games.pgn
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
# npm is needed here alone: the wheel carries the page of the board. Without npm the wheel has no page, and the build fails.
RUN pip wheel --no-cache-dir --constraint constraints.txt --wheel-dir /wheels . \
    && python -c "import glob, zipfile; zipfile.ZipFile(glob.glob('/wheels/kibitz-*.whl')[0]).getinfo('kibitz/web/page/index.html')"

FROM python:3.12-slim
RUN useradd --create-home --uid 1000 kibitz
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels
USER 1000
WORKDIR /home/kibitz
# Inside a container, 127.0.0.1 cannot be reached from outside. So the board prints an address with a key, and wants the key.
ENV KIBITZ_BOARD_ADDRESS=0.0.0.0:8000
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
    CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8000), 5)"]
ENTRYPOINT ["kibitz"]
CMD ["board"]
