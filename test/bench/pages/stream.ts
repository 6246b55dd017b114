/** Makes streams for the pages, all off air: the pages alone use the processor. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../../kit/system/system.ts';

/** Makes a stream off air. Its media has failed, so no preparation runs beside the measurement. */
export async function streamOffAir({ client, facts }: Pick<System, 'client' | 'facts'>, name: string): Promise<string> {
  const { rtmpUrl } = facts;
  const destination = await client.destinations.create({
    name: 'Nobody listens',
    rtmpUrl,
    rtmpKey: 'key-of-the-bench',
  });
  const nothing = new URL('/nothing.mp4', facts.apiUrl).href;
  let upload = await client.uploads.fromLink({ type: 'VIDEO', url: nothing });
  while (upload.state !== 'failed') {
    await sleep(200);
    upload = await client.uploads.get(upload.objectID);
  }
  const made = await client.streams.create({
    name,
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination.id,
    videoUploadObjectID: upload.objectID,
  });
  return made.id;
}

/** Makes a stream that the first page shows. */
export async function scheduledStream(system: System): Promise<void> {
  const id = await streamOffAir(system, 'Tomorrow');
  const scheduleStartAt = new Date(Date.now() + 24 * 3_600_000).toISOString();
  await system.client.streams.schedule(id, { scheduleStartAt });
}
