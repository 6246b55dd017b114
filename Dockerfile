# One image for every role: `loopstream api`, `operator`, `streamer`, `prepare`, `decoder`, `probe`, `migrate`, `keys`.
# BASE is a Debian bookworm with what ffmpeg is linked to and ca-certificates (they are installed where they are missing), BUILDER
# one with Node and npm; any images that have them will do.
ARG BASE=debian:bookworm-slim
ARG BUILDER=node:24-bookworm-slim

# Debian's own ffmpeg loads libraries that options name and brings a hundred that nothing here calls. This stage changes with its
# script alone, so it is built once.
FROM ${BUILDER} AS ffmpeg
COPY scripts/build-ffmpeg /tmp/
RUN /tmp/build-ffmpeg /out && rm -rf /var/lib/apt/lists/*

FROM ffmpeg AS build
WORKDIR /src
COPY . .
# What is installed is no layer: 100,000 files take a minute to become one, and npm does next to nothing where they are there.
# Node is the lock file's, not the builder's.
RUN --mount=type=cache,target=/src/node_modules,sharing=locked \
  scripts/install-dependencies && LOOPSTREAM_LAUNCHER=required make build && cp node_modules/.bin/node /usr/local/bin/node

FROM ${BASE}
RUN dpkg-query --show ca-certificates libx264-164 libdav1d6 libzimg2 libsrt1.5-gnutls >/dev/null 2>&1 \
  || (apt-get update && apt-get install -y --no-install-recommends ca-certificates libx264-164 libdav1d6 libzimg2 libsrt1.5-gnutls \
    && rm -rf /var/lib/apt/lists/*)
COPY --from=ffmpeg /out/ffmpeg /out/ffprobe /out/ffmpeg-send /usr/local/bin/
COPY --from=ffmpeg /out/COPYING.ffmpeg /usr/share/doc/loopstream/
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/package.json /app/
COPY --from=build /src/dist /app/dist
USER 10001:10001
ENV NODE_ENV=production LOOPSTREAM_DASHBOARD_DIR=/app/dist/dashboard LOOPSTREAM_SENDER=ffmpeg-send
ENTRYPOINT ["node", "/app/dist/app/main.js"]
CMD ["--help"]
