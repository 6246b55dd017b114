/** Measures what the public address of a stream costs the API server while many pages ask it again and again. */
import { setTimeout } from 'node:timers/promises';
import { PODS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { PROGRAM_ANNOTATION, STREAM_LABEL } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { call } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';
import { sumCpuSeconds } from '../processes.ts';
import type { Row } from '../report.ts';
import type { Load } from './compare.ts';

const POLLERS = 1000;
const EVERY_SECONDS = 30;
/** Items of the list. Each plays for as long as three songs do, so that a poll in eighteen finds another one. */
const ITEMS = 500;
const ITEM_SECONDS = 540;
/** Puts a stream with a long list on air, as the operator and its pod do. */
async function putOnAir(kube: Kube, id: string, upload: string): Promise<void> {
  const renditions = [{ profile: '1080p30', state: 'ready', key: 'r/a', durationSeconds: ITEM_SECONDS }];
  const status = { phase: 'ready', renditions };
  await kube.mergePatch(UPLOADS, NAMESPACE, upload, { status }, { subresource: 'status' });
  const epoch = new Date(Date.now() - (ITEM_SECONDS - 15) * 1000).toISOString();
  const program: Program = {
    version: 1,
    epoch,
    seed: 1,
    profile: '1080p30',
    destinations: ['dst'],
    video: {
      mode: 'shuffle',
      items: Array.from({ length: ITEMS }, (_, i) => ({ id: upload, name: `Item ${i}`, rendition: 'r/a' })),
    },
  };
  await kube.create(PODS, NAMESPACE, {
    metadata: {
      name: `${id}-onair`,
      namespace: NAMESPACE,
      labels: { [STREAM_LABEL]: id },
      annotations: { [PROGRAM_ANNOTATION]: JSON.stringify(program) },
    },
    spec: { containers: [{ name: 'streamer', image: 'none' }] },
  } as never);
  const anchor = { version: 1, epoch, round: 0, turn: 0, startedAt: epoch, since: epoch };
  const live = { phase: 'live', epoch, anchors: { video: anchor } };
  await kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { spec: { replicas: 1 } });
  await kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { status: live }, { subresource: 'status' });
}

interface NowScene {
  load: Load;
  kube: Kube;
  api: { url: string; pid: number };
  key: string;
  stream: string;
  upload: string;
}

/** 1,000 pages ask for what a stream plays, each every 30 seconds and with the ETag that it has, for `seconds`. */
export async function nowRows({ load, kube, api, key, stream, upload }: NowScene, seconds: number): Promise<Row[]> {
  await putOnAir(kube, stream, upload);
  const path = `${api.url}/v1/streams/${stream}/public-now`;
  const { body } = await call<{ url: string }>(path, 'PATCH', { enabled: true }, { 'x-api-key': key });
  const url = `${api.url}${new URL(body.url).pathname}`;
  await until('it is on air', async () => (await call<{ onAir: boolean }>(url, 'GET')).body.onAir === true);
  const measure = async <T>(work: () => Promise<T>) => {
    const since = { cpu: sumCpuSeconds([api.pid]), ms: performance.now() };
    const result = await work();
    return { result, share: (sumCpuSeconds([api.pid]) - since.cpu) / ((performance.now() - since.ms) / 1000) };
  };
  const ask = (forSeconds: number) =>
    measure(() => load.poll(url, { pollers: POLLERS, everySeconds: EVERY_SECONDS, seconds: forSeconds }));
  // A server that began a minute ago compiles what it runs, and tells events of the streams that were made for the measurement.
  await ask(EVERY_SECONDS);
  const before = await measure(() => setTimeout(1000 * EVERY_SECONDS));
  const { result, share: whole } = await ask(seconds);
  const shown = await call<{ onAir: boolean }>(url, 'GET');
  if (!shown.body.onAir) throw new Error('It left the air meanwhile.');
  const after = await measure(() => setTimeout(1000 * EVERY_SECONDS));
  const idle = (before.share + after.share) / 2;
  const { asked, unchanged } = result;
  const show = (part: number) => `${(100 * part).toFixed(1)} % of a core`;
  return [
    {
      what: `processor time with ${POLLERS} pollers of /public/now, each every ${EVERY_SECONDS} s with its ETag (${asked} requests, ${unchanged} × 304)`,
      ours: show(whole),
      peer: show(idle),
      beside: 'the same server, not asked, before and after',
      result: whole <= 0.05 ? 'holds' : 'misses',
      bar: '≤ 5 %',
    },
  ];
}
