/** Puts a stream on air the way any client does: an upload from a link, a destination, a stream, start. */

import { sleep } from '../../src/core/lib/clock.ts';
import { ConfigError } from '../../src/core/settings/settings.ts';
import {
  type Client,
  createClient,
  LoopstreamError,
  ProblemError,
  type Stream,
} from '../../src/service/client/index.ts';
import { findWaitReason } from './wait-reason.ts';

const POLL_MS = 250;
/** Nearly a minute: the API server may be started again meanwhile. */
const MAX_RETRIES = 10;
/** Only a person can mend these, so that no wait helps. */
const FINAL_ISSUES = ['media_failed', 'destination_invalid'];

/** A stream that an earlier run made, and where its media was imported from. */
export interface KnownStream {
  id: string;
  mediaUrl: string | undefined;
}

export interface OnAirRequest {
  apiUrl: string;
  apiKey: string;
  /** Link to the media; it may be on this machine. */
  mediaUrl: string;
  name: string;
  rtmpUrl: string;
  rtmpKey: string;
  /** Goes on air again if it is still there, moved to the addresses above. */
  known?: KnownStream | undefined;
}

export interface OnAirOptions {
  /** Takes a sentence that says what is waited for. */
  detail: (text: string) => void;
  /** Called with the id as soon as the stream exists. */
  remember?: (id: string) => void;
  signal: AbortSignal;
}

/** Makes the stream unless it is there, starts it, and resolves to its id when a destination accepts media. */
export async function putOnAir(request: OnAirRequest, options: OnAirOptions): Promise<string> {
  const { detail, remember, signal } = options;
  const { apiUrl: baseUrl, apiKey, known } = request;
  const client = createClient({ baseUrl, apiKey, maxRetries: MAX_RETRIES });
  const id = (known && (await recall(client, known, request))) ?? (await createStream(client, request));
  remember?.(id);
  await client.streams.start(id, { whenReady: true, signal });
  let reason = 'waiting until the receiver gets media';
  for (;;) {
    const facts = await readFacts(client, id, signal);
    if (facts) {
      const { stream, readiness, stats } = facts;
      // The status of the last run is still there when this one begins; its pod is not.
      if (stream.status === 'live' && stats.live) return id;
      reason = findWaitReason(facts) ?? reason;
      const final = readiness.issues.find(({ code }) => FINAL_ISSUES.includes(code));
      if (final) throw new ConfigError(`${final.message} ${final.fix}`);
      if (stream.status === 'failed')
        throw new Error(`The stream failed: ${reason} See: kubectl describe loopstream ${id}`);
    }
    detail(reason);
    await sleep(POLL_MS, signal);
  }
}

/** Reads the stream, its readiness and its live stats; undefined while the API server is away. */
async function readFacts(client: Client, id: string, signal: AbortSignal) {
  try {
    const [stream, readiness, stats] = await Promise.all([
      client.streams.get(id, { signal }),
      client.streams.readiness(id, { signal }),
      client.streams.liveStats(id, { signal }),
    ]);
    return { stream, readiness, stats };
  } catch (error) {
    if (error instanceof LoopstreamError && error.isPassing) return undefined;
    throw error;
  }
}

/** Resolves to undefined when there is no such object any more. */
const find = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  });

/** The stream of an earlier run, moved to where media is served and taken now; undefined when it is not there any more. */
async function recall(client: Client, known: KnownStream, request: OnAirRequest): Promise<string | undefined> {
  const stream = await find(client.streams.get(known.id));
  if (!stream) return undefined;
  await Promise.all([moveDestination(client, stream, request), moveMedia(client, stream, known, request)]);
  return stream.id;
}

async function moveDestination(
  client: Client,
  stream: Stream,
  { name, rtmpUrl, rtmpKey }: OnAirRequest,
): Promise<void> {
  const destination = await find(client.destinations.get(stream.destinationID));
  if (destination?.rtmpUrl === rtmpUrl) return;
  if (destination) {
    await client.destinations.update(destination.id, { rtmpUrl });
    return;
  }
  const { id } = await client.destinations.create({ name, rtmpUrl, rtmpKey });
  await client.streams.update(stream.id, { destinationID: id });
}

/** An upload that has arrived needs its link no more; one that has not is fetched from where the media is served now. */
async function moveMedia(
  client: Client,
  stream: Stream,
  known: KnownStream,
  { name, mediaUrl }: OnAirRequest,
): Promise<void> {
  // A person has put a playlist in its place.
  if (stream.videoUploadObjectID === null) return;
  const upload = await find(client.uploads.get(stream.videoUploadObjectID));
  if (upload && !['importing', 'failed'].includes(upload.state)) return;
  if (upload && known.mediaUrl === mediaUrl) {
    // One that failed for another reason than its link is not fetched again, and readiness says what is wrong.
    if (upload.state === 'failed')
      await client.uploads.retry(upload.objectID).catch((error: unknown) => {
        if (!(error instanceof ProblemError)) throw error;
      });
    return;
  }
  const { objectID } = await client.uploads.fromLink({ type: 'VIDEO', url: mediaUrl, name });
  await client.streams.update(stream.id, { videoUploadObjectID: objectID });
  if (upload) await find(client.uploads.delete(upload.objectID));
}

async function createStream(client: Client, { name, rtmpUrl, rtmpKey, mediaUrl }: OnAirRequest): Promise<string> {
  const upload = await client.uploads.fromLink({ type: 'VIDEO', url: mediaUrl, name });
  const destination = await client.destinations.create({ name, rtmpUrl, rtmpKey });
  const stream = await client.streams.create({
    name,
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination.id,
    videoUploadObjectID: upload.objectID,
  });
  return stream.id;
}
