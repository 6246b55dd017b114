# One image for every role: `loopstream api`, `operator`, `streamer`, `prepare`, `decoder`, `probe`, `migrate`, `keys`.
# BASE is a Debian with ffmpeg and ca-certificates, BUILDER one with Node, npm and a C compiler; any images that have them
# will do.
ARG BASE=debian:bookworm-slim
ARG BUILDER=node:24-bookworm-slim

FROM ${BUILDER} AS build
WORKDIR /src
RUN { command -v make && command -v cc; } >/dev/null \
  || (apt-get update && apt-get install -y --no-install-recommends make gcc libc6-dev && rm -rf /var/lib/apt/lists/*)
COPY . .
# What is installed is no layer: 100,000 files take a minute to become one, and npm does next to nothing where they are there.
# Node is the lock file's, not the builder's.
RUN --mount=type=cache,target=/src/node_modules,sharing=locked \
  scripts/install-dependencies && LOOPSTREAM_LAUNCHER=required make build && cp node_modules/.bin/node /usr/local/bin/node

FROM ${BASE}
RUN command -v ffmpeg >/dev/null \
  || (apt-get update && apt-get install -y --no-install-recommends ffmpeg ca-certificates && rm -rf /var/lib/apt/lists/*)
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/package.json /app/
COPY --from=build /src/dist /app/dist
USER 10001:10001
ENV NODE_ENV=production LOOPSTREAM_DASHBOARD_DIR=/app/dist/dashboard
ENTRYPOINT ["node", "/app/dist/app/main.js"]
CMD ["--help"]
