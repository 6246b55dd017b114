/** Lists what stands for values in the template of a request. Pure: no I/O, no clock. */

/** Every placeholder, with its meaning. */
export const PLACEHOLDERS = {
  title: 'What happened, in a few words',
  text: 'What happened, the cause and what to do, in sentences',
  summary: 'What happened, in sentences',
  message: 'The cause, as a sentence; empty where there is none',
  fix: 'What to do about it; empty where nothing has to be done',
  code: 'Stable code of the cause; empty where there is none',
  link: 'Address of the page about it',
  name: 'Name of the stream, or of what else it is about',
  objectID: 'Id of the stream, or of what else it is about',
  streamID: 'Id of the stream; empty where it is about no stream',
  type: 'Type of the event, such as `stream.off_air`',
  kind: '`off_air`, `flapping`, `back`, `calm`, `stopped`, `was_off_air` or `note`',
  timestamp: 'When it happened (ISO 8601)',
  offAirSeconds: 'Seconds off air; 0 where there was no outage',
  outages: 'Number of outages; 0 where there was none',
} as const;
export type Placeholder = keyof typeof PLACEHOLDERS;
