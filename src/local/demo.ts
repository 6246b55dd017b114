/**
 * Puts a stream on air the way any client would: over HTTP, with an API key. Upload from a link, destination, stream,
 * readiness, start.
 */
import { sleep } from '../clock.ts';
import { ConfigError } from '../settings.ts';

export interface OnAirRequest {
  apiUrl: string;
  apiKey: string;
  /** Link to the media; it may be on this machine. */
  mediaUrl: string;
  name: string;
  rtmpUrl: string;
  rtmpKey: string;
}

interface Readiness {
  ready: boolean;
  issues: { code: string; message: string; fix: string }[];
}

/** A client of our own API, as small as a script's. A problem document becomes an Error with its detail. */
export function createClient(apiUrl: string, apiKey: string) {
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { 'X-API-Key': apiKey, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(90_000),
    }).catch((error: Error) => {
      // What fetch says itself is "fetch failed"; why is in its cause.
      throw new Error(`${method} ${path}: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    });
    const text = await response.text();
    const answer = text ? JSON.parse(text) : undefined;
    if (!response.ok)
      throw new Error(`${method} ${path}: ${answer?.code ?? response.status}: ${answer?.detail ?? text}`);
    return answer as T;
  };
}
type Client = ReturnType<typeof createClient>;

/** Waits until nothing keeps the stream from starting; what can only be mended by a person ends the wait at once. */
async function untilReady(
  call: Client,
  id: string,
  detail: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { ready, issues } = await call<Readiness>('GET', `/streams/${id}/readiness`);
    if (ready) return;
    const [first] = issues;
    if (first) detail(first.message);
    const final = issues.find((i) => ['media_failed', 'destination_invalid'].includes(i.code));
    if (final) throw new ConfigError(`${final.message} ${final.fix}`);
    await sleep(250, signal);
  }
}

/** Makes the stream if it is not there, starts it, and answers with its id when a destination is accepting media. */
export async function putOnAir(
  request: OnAirRequest,
  known: string | undefined,
  detail: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const call = createClient(request.apiUrl, request.apiKey);
  const id = (known && (await recall(call, known, request))) || (await createStream(call, request));
  await untilReady(call, id, detail, signal);
  detail('waiting for the first media to arrive');
  for (;;) {
    const { status } = await call<{ status: string }>('POST', `/streams/${id}/start?wait=20`);
    if (status === 'live') return id;
    if (status === 'failed') throw new Error(`The stream failed; see: kubectl describe loopstream ${id}`);
    detail(`the stream is ${status}`);
    await sleep(250, signal);
  }
}

/** The stream of an earlier run, sent to where the receiver listens now; undefined when it is not there any more. */
async function recall(call: Client, known: string, { rtmpUrl }: OnAirRequest): Promise<string | undefined> {
  let stream: { id: string; destinationID: string };
  try {
    stream = await call('GET', `/streams/${known}`);
  } catch {
    return undefined;
  }
  const path = `/destinations/${stream.destinationID}`;
  const destination = await call<{ rtmpUrl: string }>('GET', path);
  if (destination.rtmpUrl !== rtmpUrl) await call('PATCH', path, { rtmpUrl });
  return stream.id;
}

async function createStream(call: Client, request: OnAirRequest): Promise<string> {
  const { name, rtmpUrl, rtmpKey, mediaUrl } = request;
  const upload = await call<{ objectID: string }>('POST', '/uploads/from-link', { type: 'VIDEO', url: mediaUrl, name });
  const destination = await call<{ id: string }>('POST', '/destinations', { name, rtmpUrl, rtmpKey });
  const stream = await call<{ id: string }>('POST', '/streams', {
    name,
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination.id,
    videoUploadObjectID: upload.objectID,
  });
  return stream.id;
}
