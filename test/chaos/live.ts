/** Runs the load that faults hit: streams on air, deposits on their way, and the shots. */
import { readFileSync } from 'node:fs';
import { createKube } from '../../src/core/kube/client.ts';
import { PODS } from '../../src/core/kube/core.ts';
import { sleep } from '../../src/core/lib/clock.ts';
import { STREAM_LABEL } from '../../src/core/resources/common/names.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import type { FarTap } from '../kit/fake/tap-process.ts';
import { listProcesses } from '../kit/real/node.ts';
import { until } from '../kit/wait.ts';
import type { Chain } from './chain.ts';
import { KINDS, type Kind, type Shot } from './plan.ts';
import type { Receiver } from './receiver.ts';
import type { Stage } from './stage.ts';

export interface Channel {
  id: string;
  key: string;
  tap: FarTap;
}

const PREPARE_MS = 120_000;

/** Puts streams of one video on air, each to a tap of its own. */
export async function makeChannels({ client, videoUrl }: Stage, receiver: Receiver, count: number): Promise<Channel[]> {
  const { objectID } = await client.uploads.fromLink({ type: 'VIDEO', url: videoUrl, name: 'clip' });
  const channels: Channel[] = [];
  for (let n = 1; n <= count; n++) {
    const [key, tap] = [`channel-${n}`, await receiver.tap()];
    const destination = await client.destinations.create({ name: key, rtmpUrl: tap.url, rtmpKey: key });
    const { id } = await client.streams.create({
      name: key,
      quality: 'q_720p',
      framerate: 'f_30',
      destinationID: destination.id,
      videoUploadObjectID: objectID,
    });
    await until(`${key} is ready`, async () => (await client.streams.readiness(id)).ready, PREPARE_MS);
    channels.push({ id, key, tap });
  }
  await Promise.all(channels.map(({ id }) => start(client, id)));
  return channels;
}

/** Retries while any part is down: a person who stops or starts a stream does not give up. */
const start = (client: Stage['client'], id: string) =>
  until(
    'the stream is on air',
    () =>
      client.streams.start(id, { wait: 20, whenReady: true }).then(
        ({ status }) => status === 'live',
        () => false,
      ),
    90_000,
  );

const stop = (client: Stage['client'], id: string) =>
  until(
    'the stream is stopped',
    () =>
      client.streams.stop(id, { wait: 20 }).then(
        ({ status }) => status === 'stopped',
        () => false,
      ),
    90_000,
  );

const MOST_ADDRESSES = 4;
const PAY_EVERY_MS = 800;
/** 30 credits at the set price (stage.ts), so that each deposit is worth a whole number of them. */
const WEI = 10n ** 12n;

/** Asks for addresses and pays to them, to some several times, until it is aborted. */
export async function pay({ client }: Stage, chain: Chain, signal: AbortSignal): Promise<void> {
  const addresses: string[] = [];
  for (let n = 1; !signal.aborted; n++) {
    if (addresses.length < MOST_ADDRESSES) {
      const asked = client.crypto.create({ asset: 'ETH', network: chain.network.network });
      await asked.then(
        ({ address }) => addresses.push(address),
        () => undefined,
      );
    }
    const address = addresses[n % Math.max(1, addresses.length)];
    if (address !== undefined) await chain.send(address, WEI * BigInt(n));
    if (n % 5 === 0) await chain.repeat().catch(() => undefined);
    await sleep(PAY_EVERY_MS, signal).catch(() => undefined);
  }
}

/** Returns the processes of a stream's pods: the senders, and the streamers. */
async function processesOfStream({ kubeconfig }: Stage, id: string): Promise<{ ffmpeg: number[]; streamer: number[] }> {
  const kube = createKube({ kubeconfig });
  try {
    const pods = await kube.list(PODS, { namespace: NAMESPACE, labelSelector: `${STREAM_LABEL}=${id}` });
    const found = pods.flatMap(({ metadata }) => listProcesses(metadata.uid));
    const isFfmpeg = (pid: number) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'ffmpeg';
      } catch {
        return false;
      }
    };
    return { ffmpeg: found.filter(isFfmpeg), streamer: found.filter((pid) => !isFfmpeg(pid)) };
  } finally {
    await kube.close();
  }
}

async function killProcess(stage: Stage, id: string, kind: 'ffmpeg' | 'streamer'): Promise<boolean> {
  const [pid] = (await processesOfStream(stage, id))[kind];
  if (pid === undefined) return false;
  process.kill(pid, 'SIGKILL');
  return true;
}

interface Scene {
  stage: Stage;
  chain: Chain;
  channels: readonly Channel[];
}

/** Fires the shots at their times; resolves, when all their effects have ended, to the number of hits of each kind. */
export async function shoot(
  { stage, chain, channels }: Scene,
  shots: readonly Shot[],
  { seconds, say }: { seconds: number; say: (text: string) => void },
): Promise<string> {
  const began = performance.now();
  const hits = new Map<Kind, number>();
  /** Streams that a shot is stopping and starting. */
  const busy = new Map<string, Promise<unknown>>();
  const fire = async ({ kind, lot }: Shot, { id, tap }: Channel): Promise<boolean> => {
    if (kind === 'ffmpeg' || kind === 'streamer') return killProcess(stage, id, kind);
    if (kind === 'receiver') return tap.cut(1000 + lot * 3000);
    if (kind === 'anvil') return chain.kill();
    if (kind !== 'stop') return stage.kill(kind);
    if (busy.has(id)) return false;
    const work = stop(stage.client, id)
      .then(() => start(stage.client, id))
      .finally(() => busy.delete(id));
    work.catch(() => undefined);
    busy.set(id, work);
    return true;
  };
  for (const shot of shots) {
    await sleep(Math.max(0, shot.atMs - (performance.now() - began)));
    const channel = channels[Math.floor(shot.lot * channels.length)] as Channel;
    const isOfStream = ['ffmpeg', 'streamer', 'receiver', 'stop'].includes(shot.kind);
    const hit = await fire(shot, channel).catch(() => false);
    if (hit) hits.set(shot.kind, (hits.get(shot.kind) ?? 0) + 1);
    const left = Math.max(0, Math.round(seconds - (performance.now() - began) / 1000));
    say(`  ${left} s left: ${shot.kind}${isOfStream ? ` of ${channel.key}` : ''}${hit ? '' : ', which was not there'}`);
  }
  await sleep(Math.max(0, seconds * 1000 - (performance.now() - began)));
  await Promise.all(busy.values());
  return KINDS.map((kind) => `${kind} ${hits.get(kind) ?? 0}`).join(', ');
}
