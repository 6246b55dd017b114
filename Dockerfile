# Two images. The last stage, which is built without a target, has what streams and serves: `loopstream api`, `operator`, `billing`,
# `streamer`, `probe`, `migrate`, `keys`. The target `prepare` has `prepare` and `decoder`, with the ffmpeg that opens strangers' files and
# the fonts.
# BUILDER is a Debian bookworm with Node and npm; any image that has them will do.
ARG BUILDER=node:24-bookworm-slim

# Debian's own ffmpeg loads libraries that options name and brings a hundred that nothing here calls. This stage changes with its
# scripts alone, so it is built once.
FROM ${BUILDER} AS ffmpeg
COPY scripts/ffmpeg-source scripts/build-ffmpeg /tmp/scripts/
RUN /tmp/scripts/build-ffmpeg /out && rm -rf /var/lib/apt/lists/*
COPY native/rtmp-one-send.patch native/gnutls-rnd.c /tmp/native/
COPY scripts/build-sender /tmp/scripts/
RUN /tmp/scripts/build-sender /out && rm -rf /var/lib/apt/lists/*
COPY native/draw-text.c /tmp/native/
COPY scripts/build-draw-text scripts/image-fonts /tmp/scripts/
RUN /tmp/scripts/build-draw-text /out && rm -rf /var/lib/apt/lists/*

FROM ffmpeg AS build
WORKDIR /src
COPY . .
# What is installed is no layer: 100,000 files take a minute to become one, and npm does next to nothing where they are there.
# Node is the lock file's, not the builder's.
RUN --mount=type=cache,target=/src/node_modules,sharing=locked \
  scripts/install-dependencies && LOOPSTREAM_LAUNCHER=required make build && cp node_modules/.bin/node /usr/local/bin/node

# What the programs of each image are linked to, and no shell, package manager or other program.
FROM ffmpeg AS system
COPY scripts/build-system scripts/image-packages scripts/image-fonts /tmp/
RUN /tmp/build-system prepare /prepare /out && /tmp/build-system loopstream /loopstream /out

# `make release` makes its archives from these lines (scripts/release/stage.ts), so that they are said once.
FROM scratch AS prepare
COPY --from=system /prepare /
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/package.json /app/
COPY --from=build /src/dist/confine /app/dist/
COPY --from=build /src/dist/THIRD_PARTY_NOTICES.txt /app/dist/
COPY --from=build /src/dist/app /app/dist/app
USER 10001:10001
ENV PATH=/usr/local/bin NODE_ENV=production
ENTRYPOINT ["node", "/app/dist/app/main.js"]
CMD ["--help"]

FROM scratch AS loopstream
COPY --from=system /loopstream /
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/package.json /app/
COPY --from=build /src/dist /app/dist
USER 10001:10001
ENV PATH=/usr/local/bin NODE_ENV=production LOOPSTREAM_DASHBOARD_DIR=/app/dist/dashboard LOOPSTREAM_SENDER=ffmpeg-send MALLOC_ARENA_MAX=1
ENTRYPOINT ["node", "/app/dist/app/main.js"]
CMD ["--help"]
