/**
 * Runs a real streamer in the place of a pod's container, at an address of its own on the streamers' port. It has the program and the token
 * of its pod from the API server, as kubelet would bring them.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { startStreamer } from '../../../src/core/pods/streamer/main.ts';
import { streamerConfig } from '../../../src/core/protocol/environment.ts';
import {
  CONTROL_TOKEN_KEY,
  DESTINATIONS_KEY,
  POD_UID_FILE,
  PROGRAM_ANNOTATION,
  SKIP_PATH,
  STREAMER_PORT,
  streamSecretName,
  VIEW_TOKEN_KEY,
} from '../../../src/core/resources/common/names.ts';
import { writeAtomically, writeDestination } from '../../kit/make/streamer.ts';
import { silent } from '../../kit/real/kube.ts';
import { until } from '../../kit/wait.ts';

const SYNC_MS = 100;

export interface StreamerPod {
  ip: string;
  token: string;
  stats(): Promise<ShownStats>;
  /** Asks for a skip as the operator does. */
  skip(id: string): Promise<Response>;
  stop(): Promise<void>;
}

/**
 * Runs the operator's pod `name`. `root` holds the media in `storage`; `destinations` are its Secrets. It pushes its reports to `reportsUrl`.
 */
export async function startStreamerPod(
  kube: Kube,
  namespace: string,
  name: string,
  root: string,
  destinations: Record<string, [url: string, key: string]>,
  reportsUrl?: string,
): Promise<StreamerPod> {
  const dir = await mkdtemp(join(root, 'pod-'));
  const ip = `127.${randomInt(20, 250)}.${randomInt(1, 250)}.${randomInt(1, 250)}`;
  const programFile = join(dir, 'program.json');
  let written = '';
  const sync = async () => {
    const text = (await kube.get(PODS, namespace, name)).metadata.annotations?.[PROGRAM_ANNOTATION] ?? '';
    if (text !== written) await writeAtomically(programFile, text);
    written = text;
  };
  await sync();
  const { metadata } = await kube.get(PODS, namespace, name);
  const owner = metadata.ownerReferences?.[0]?.uid ?? '';
  // The first pod of a stream may exist a moment before its Secret: kubelet waits for it too.
  const secret = await until('the Secret of the pod', () =>
    kube.get(SECRETS, namespace, streamSecretName(owner)).catch(() => undefined),
  );
  const token = Buffer.from(secret.data?.[CONTROL_TOKEN_KEY] ?? '', 'base64').toString();
  await writeAtomically(join(dir, 'token'), token);
  const viewToken = Buffer.from(secret.data?.[VIEW_TOKEN_KEY] ?? '', 'base64').toString();
  await writeAtomically(join(dir, VIEW_TOKEN_KEY), viewToken);
  await writeAtomically(join(dir, POD_UID_FILE), metadata.uid);
  const destinationsFile = join(dir, DESTINATIONS_KEY);
  for (const [label, secrets] of Object.entries(destinations)) await writeDestination(destinationsFile, label, secrets);
  const config = streamerConfig({
    LOOPSTREAM_PROGRAM_FILE: programFile,
    LOOPSTREAM_DESTINATIONS_FILE: destinationsFile,
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_CONTROL_TOKEN_FILE: join(dir, 'token'),
    LOOPSTREAM_VIEW_TOKEN_FILE: join(dir, VIEW_TOKEN_KEY),
    LOOPSTREAM_POD_UID_FILE: join(dir, POD_UID_FILE),
    LOOPSTREAM_REPORTS_URL: reportsUrl,
    LOOPSTREAM_STORAGE_URL: `file://${join(root, 'storage')}`,
    LOOPSTREAM_HOST: ip,
    LOOPSTREAM_PORT: String(STREAMER_PORT),
  });
  const lifecycle = new Lifecycle();
  await startStreamer(config, lifecycle, silent);
  const timer = setInterval(() => void sync().catch(() => undefined), SYNC_MS);
  lifecycle.defer('program', () => clearInterval(timer));
  const base = `http://${ip}:${STREAMER_PORT}`;
  return {
    ip,
    token,
    stats: async () => {
      const answer = await fetch(`${base}/stats`, { headers: { authorization: `Bearer ${viewToken}` } });
      return (await answer.json()) as ShownStats;
    },
    skip: (id) =>
      fetch(`${base}${SKIP_PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ id }),
      }),
    stop: () => lifecycle.stop(),
  };
}
