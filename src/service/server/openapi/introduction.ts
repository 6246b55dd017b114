/** Introduces the API, at the beginning of its description. Pure: no I/O, no clock. */

export const INTRODUCTION = `Continuous looping streams to RTMP destinations.

## Authentication

Send an [API key](/account/keys) in \`X-API-Key\`, or an OAuth access token in \`Authorization: Bearer …\`. A key has the full
access of its account, or the scopes that it was made with. A token has the scopes that its user agreed to.

## A first stream

1. \`POST /v1/uploads/from-link\` with the address of a video
2. \`POST /v1/destinations\` with the address and the stream key that the platform shows
3. \`POST /v1/streams\` with the ids of both
4. \`GET /v1/streams/{id}/readiness\` until \`ready\` is true
5. \`POST /v1/streams/{id}/start?wait=30\`, which answers when the platform takes the stream

## Errors

Every error is a problem document (RFC 9457). Its \`code\` never changes, and its \`detail\` says what to do: see [all codes](/docs/errors).

## Lists

A list comes in pages of \`limit\` items. For the next page, send \`page.nextCursor\` as \`cursor\`.

## Repeats

A \`POST\` with an \`Idempotency-Key\` happens once, however often it is sent. A repeated request gets the same response for 24 hours.

## Limits

\`RateLimit-Remaining\` in a response is the number of requests left. After status 429, wait for \`Retry-After\` seconds. \`GET /v1/limits\`
lists what an account may have.

## Changes

\`GET /v1/changes\` is a stream of server-sent events: one for each object that changes.

## Other ways

[GraphQL](/graphql) returns the fields that a query asks for. [Agents](/mcp) have all of it as tools.`;
