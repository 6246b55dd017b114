# One image for every role: `loopstream api`, `operator`, `streamer`, `prepare`, `probe`, `migrate`, `keys`.
# BASE is a Debian with ffmpeg and ca-certificates; any image that has them will do.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS dependencies
WORKDIR /src
RUN command -v npm >/dev/null \
  || (apt-get update && apt-get install -y --no-install-recommends npm make ca-certificates && rm -rf /var/lib/apt/lists/*)
# No more than an installation needs, so that it is done again only when one of these has changed.
COPY package.json package-lock.json .npmrc ./
COPY scripts/step scripts/install-dependencies scripts/
RUN scripts/install-dependencies

FROM dependencies AS build
COPY . .
RUN make build

FROM ${BASE}
RUN command -v ffmpeg >/dev/null \
  || (apt-get update && apt-get install -y --no-install-recommends ffmpeg ca-certificates && rm -rf /var/lib/apt/lists/*)
COPY --from=build /src/node_modules/.bin/node /usr/local/bin/node
COPY --from=build /src/package.json /app/
COPY --from=build /src/dist /app/dist
USER 10001:10001
ENV NODE_ENV=production LOOPSTREAM_DASHBOARD_DIR=/app/dist/dashboard
ENTRYPOINT ["node", "/app/dist/app/main.js"]
CMD ["--help"]
