/**
 * Answers in the form that a client accepts. The specification asks clients to accept JSON and events both, and real ones accept one, anything,
 * or send no Accept header at all. Pure: no I/O, no clock.
 */

export const JSON_TYPE = 'application/json';
export const EVENTS_TYPE = 'text/event-stream';

/** `any`: the form that the server prefers for the message. */
export type AcceptedForm = 'json' | 'events' | 'any';

/** Whether a header names a type, itself or by a range, and does not rule it out (RFC 9110, section 12.5.1). */
function accepts(ranges: readonly string[], type: string): boolean {
  const [family] = type.split('/');
  const specific = [type, `${family}/*`, '*/*'];
  for (const wanted of specific) {
    const found = ranges.find((range) => range.split(';')[0]?.trim() === wanted);
    if (found !== undefined) return !/;\s*q=0(\.0*)?\s*$/.test(found);
  }
  return false;
}

/** Reads an Accept header. One that rules out both forms is answered as if it were not there: an error in JSON helps nobody more. */
export function readAcceptedForm(header: string | undefined): AcceptedForm {
  const ranges = (header ?? '')
    .toLowerCase()
    .split(',')
    .filter((range) => range.trim() !== '');
  const [json, events] = [accepts(ranges, JSON_TYPE), accepts(ranges, EVENTS_TYPE)];
  if (json === events) return 'any';
  return json ? 'json' : 'events';
}

const isType = (answer: Response, type: string): boolean =>
  answer.headers.get('content-type')?.startsWith(type) ?? false;

const withBody = (answer: Response, body: string, type: string): Response => {
  const headers = new Headers(answer.headers);
  headers.set('content-type', type);
  headers.delete('content-length');
  return new Response(body, { status: answer.status, headers });
};

/** Returns the data of each event (HTML, section 9.2.6): its lines, without the field name. */
const readEvents = (text: string): string[] =>
  text
    .split(/\r?\n\r?\n/)
    .map((event) =>
      event
        .split(/\r?\n/)
        .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /, '')] : []))
        .join('\n'),
    )
    .filter((data) => data.trim() !== '');

/** Converts the answer of the protocol's handler: of events the result counts, since progress has no place in one JSON document. */
export async function toForm(answer: Response, form: AcceptedForm): Promise<Response> {
  if (form === 'json' && isType(answer, EVENTS_TYPE)) {
    const events = readEvents(await answer.text());
    const result = events.find(isAnswer) ?? events.at(-1);
    return withBody(answer, result ?? '', JSON_TYPE);
  }
  // An error of the transport stays JSON, with its status.
  if (form === 'events' && answer.status === 200 && isType(answer, JSON_TYPE)) {
    return withBody(answer, `event: message\ndata: ${(await answer.text()).replace(/\r?\n/g, ' ')}\n\n`, EVENTS_TYPE);
  }
  return answer;
}

function isAnswer(data: string): boolean {
  const message = JSON.parse(data) as { id?: unknown; method?: unknown };
  return message.id !== undefined && message.method === undefined;
}
