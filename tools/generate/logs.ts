/** Lists every key of log lines once, and writes docs/logs.md from it. Pure: no I/O, no clock. */
import { table } from './table.ts';

/** In every line, of the logger itself. */
export const COMMON_LOG_KEYS = {
  level: 'The severity: 10 `trace`, 20 `debug`, 30 `info`, 40 `warn`, 50 `error`, 60 `fatal`.',
  time: 'The time (RFC 3339).',
  role: 'The role of the process, such as `api` or `operator`.',
  msg: 'A sentence that says what happened.',
} as const;

/** In lines that concern it. */
export const LOG_KEYS = {
  account: 'The id of an account.',
  action: 'The task of a Job: `import`, `rendition`, `range` or `sweep`.',
  again: 'Whether the operator tries the Job again.',
  attempt: 'How often it was tried, from 1.',
  audio: 'The way in which the audio is made: `copy`, or how it is encoded.',
  blocks: 'Blocks of a chain that are still to be read.',
  channel: 'A channel of notifications of PostgreSQL.',
  code: 'A stable code, of an error of ours or of the system.',
  connectedMs: 'How long a destination had accepted media.',
  due: 'When a rule of a playlist was due, RFC 3339.',
  reportsPort: 'The port for the reports of pods.',
  controller: 'The controller of the operator: `stream`, `upload`, `playlist` or `destination`.',
  deposit: 'The id of a crypto deposit.',
  destination: 'The name of a destination.',
  destinations: 'The names of the destinations of a stream.',
  durationSeconds: 'The length of a file.',
  err: 'An error: `type`, `message`, `stack` and, where it has one, `code`.',
  event: 'The object and the reason of an Event of Kubernetes.',
  eventID: 'The id of an event of the payment provider.',
  failures: 'Failures in a row.',
  gainDb: 'By how much a sound is made louder, in dB.',
  holder: 'The identity of the process that leads.',
  identity: 'The identity of this process in an election.',
  index: 'An index of a cache.',
  issued: 'Invoices that were issued.',
  item: 'The id of an item on air.',
  itemName: 'The name of that item.',
  items: 'The number of items.',
  job: 'A background job of billing.',
  jobs: 'The background jobs of billing.',
  key: 'The namespace and the name of an object of Kubernetes, with a slash in between.',
  lease: 'The namespace and the name of a Lease.',
  lost: 'Spans that were dropped.',
  method: 'The method of a request.',
  namespace: 'A namespace.',
  network: 'A network of crypto deposits.',
  node: 'The name of a node.',
  objects: 'The number of objects in storage.',
  ok: 'Whether it succeeded.',
  opsPort: 'The port of `/healthz`, `/readyz` and `/metrics`.',
  outcome: 'The result of an event of the payment provider.',
  part: 'A part of the process that is released at its end.',
  patienceMs: 'How long the process goes on without an answer.',
  playlist: 'The name of a Playlist.',
  pod: 'The name of a pod.',
  platform: 'The kind of platform that is looked at: `watch`, `twitch` or `youtube`.',
  port: 'The port that the process listens on.',
  preparedFrames: 'Frames of an item that are prepared.',
  progress: 'Progress, from 0 to 1.',
  publish: 'The state of the publisher lock.',
  range: 'The part of a file that a helper makes.',
  reason: 'Why, in words or a code.',
  receivedBytes: 'Bytes that have arrived.',
  removed: 'Finalizers that were removed.',
  requestID: 'The id of a request: the header `X-Request-Id` of its response.',
  resource: 'A kind of Kubernetes, such as `loopstreams`.',
  retryAfterSeconds: 'How long the Job waits until it is tried again.',
  retryMs: 'How long until the next try.',
  route: 'The pattern of the path of a request.',
  rule: 'The name of a rule of a playlist.',
  seconds: 'A time or a duration.',
  silentFrames: 'Frames of audio that were filled with silence.',
  since: 'Since when, RFC 3339.',
  span_id: 'The id of the span that the line belongs to ([traces](tracing.md)).',
  stage: 'How far the test of a destination came.',
  state: 'The state of an election.',
  sqlState: 'The SQLSTATE of an error of PostgreSQL.',
  status: 'The status of a response.',
  stderr: 'The last lines of a tool’s output.',
  sourceLufs: 'The loudness of a source, in LUFS.',
  sources: 'Sources of uploads that are kept although no upload has them.',
  uid: 'The UID of an object of Kubernetes.',
  upload: 'The name of an upload.',
  storageKey: 'The key of an object in storage.',
  step: 'The step of the repair of a broadcast.',
  stream: 'The id of a stream, which is the name of its LoopStream.',
  timeoutMs: 'The limit that has passed.',
  tookMs: 'How long it took.',
  tool: 'A tool of agents, or a program that reads files.',
  topUpID: 'The id of a top-up.',
  totalBytes: 'The size of a file.',
  trace_id: 'The id of the trace that the line belongs to ([traces](tracing.md)).',
  track: '`video` or `audio`.',
  transitions: 'How often the lease has changed its holder.',
  type: 'The type of an event of the payment provider.',
  url: 'The address that the process listens on.',
  version: 'The version of a program of a stream.',
  video: 'The way in which the video is made: `copy`, or how it is encoded.',
  waitMs: 'How long until the next try.',
  waitedMs: 'How long it waited.',
  watched: 'The namespaces that the process watches.',
} as const;

const HEAD = `# Logs

<!-- Made from tools/generate/logs.ts by \`make generate\`; a test fails when it differs, or when a line has a key that is not here. -->

Each process writes one line of JSON for each event, on stderr. To follow a stream through all of them, search for its id:

\`\`\`sh
kubectl logs -n loopstream -l app.kubernetes.io/name=loopstream --all-containers --prefix | grep str-01k…
\`\`\`

A key has the same meaning everywhere. Times and sizes have their unit in the name. Secrets are in no line.
`;

const toRows = (keys: Readonly<Record<string, string>>) =>
  Object.entries(keys).map(([key, meaning]) => [`\`${key}\``, meaning]);

export const logsDocument = (): string =>
  [
    HEAD,
    `## In every line\n\n${table([['key', 'meaning'], ...toRows(COMMON_LOG_KEYS)])}`,
    `## In lines that concern it\n\n${table([['key', 'meaning'], ...toRows(LOG_KEYS)])}`,
  ].join('\n');
