/** Asks the operator for one thing by an annotation, and waits for its outcome: a skip, a test, a retry. */
import { kubeTime } from '../../lib/clock.ts';
import { RETRY_ANNOTATION, SKIP_ANNOTATIONS, TEST_ANNOTATION } from '../../resources/common/names.ts';
import { DESTINATIONS } from '../../resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../resources/stream/resource.ts';
import { UPLOADS } from '../../resources/upload/resource.ts';
import { CommandError, type Invocation } from '../shell/call.ts';
import { parseReference } from '../shell/objects.ts';
import { warn, write } from '../shell/output.ts';
import { describeTest } from './test-outcome.ts';
import { waitFor } from './wait.ts';

/** The operator drops a request after two minutes. */
const SKIP_MS = 125_000;
/** A test waits for its turn and its pod, and takes half a minute. */
const TEST_MS = 240_000;
const RETRY_MS = 30_000;

/** Begins with the time, by which the operator knows an old request; two of one second differ. */
export const makeRequest = (): string => `${kubeTime(new Date())} ${crypto.randomUUID().slice(0, 8)}`;

export const annotate = (name: string, value: string) => ({ metadata: { annotations: { [name]: value } } });

export async function skipItem({ args, flags, cluster }: Invocation<{ audio?: boolean }>): Promise<number> {
  const { kube, namespace } = cluster();
  const { name } = parseReference(args[0] ?? '', 'stream');
  const track = flags.audio ? 'audio' : 'video';
  const stream = await kube.get(LOOPSTREAMS, namespace, name);
  const { phase = 'unknown' } = stream.status ?? {};
  if (!['live', 'reconnecting', 'starting'].includes(phase))
    throw new CommandError(
      `Stream "${name}" is ${phase}, and only a stream on air skips. Start it with kubectl loop start ${name}.`,
    );
  if (track === 'audio' && !stream.spec.audioPlaylistNames?.length)
    throw new CommandError(
      `Stream "${name}" has no audio list of its own. Leave --audio out to skip the video with its sound.`,
    );
  const request = makeRequest();
  await kube.mergePatch(LOOPSTREAMS, namespace, name, annotate(SKIP_ANNOTATIONS[track], request));
  const done = await waitFor(kube, LOOPSTREAMS, { namespace, name, timeoutMs: SKIP_MS }, ({ status }) =>
    status?.skipped?.[track] === request ? true : undefined,
  );
  if (!done)
    throw new CommandError(
      `Stream "${name}" did not skip in time. Read kubectl loop diagnose ${name}, and request it again.`,
    );
  write(`Stream "${name}" went on to the next ${track} item.\n`);
  return 0;
}

export async function testDestination({ args, cluster }: Invocation): Promise<number> {
  const { kube, namespace } = cluster();
  const { name } = parseReference(args[0] ?? '', 'destination');
  const request = makeRequest();
  await kube.mergePatch(DESTINATIONS, namespace, name, annotate(TEST_ANNOTATION, request));
  const test = await waitFor(kube, DESTINATIONS, { namespace, name, timeoutMs: TEST_MS }, ({ status }) =>
    status?.test?.id === request ? status.test : undefined,
  );
  if (!test)
    throw new CommandError(
      `The test of destination "${name}" has no result yet. Check that the operator runs, and request it again.`,
    );
  write(describeTest(name, test));
  return test.ok ? 0 : 1;
}

export async function retryUpload({ args, cluster }: Invocation): Promise<number> {
  const { kube, namespace } = cluster();
  const { name } = parseReference(args[0] ?? '', 'upload');
  const { spec, status } = await kube.get(UPLOADS, namespace, name);
  if (spec.source.url === undefined)
    throw new CommandError(
      `Upload "${name}" was sent by a client, so it has no link to fetch again. Send the file again.`,
    );
  if (status?.phase !== 'failed')
    throw new CommandError(`Upload "${name}" is ${status?.phase ?? 'new'}, and only a failed one is fetched again.`);
  const request = makeRequest();
  await kube.mergePatch(UPLOADS, namespace, name, annotate(RETRY_ANNOTATION, request));
  const begun = await waitFor(kube, UPLOADS, { namespace, name, timeoutMs: RETRY_MS }, ({ status: now }) =>
    now?.retried === request ? true : undefined,
  );
  if (!begun)
    throw new CommandError(`Upload "${name}" has not begun again. Check that the operator runs, and request it again.`);
  write(`Upload "${name}" is fetched again.\n`);
  warn(`Follow it with kubectl loop logs --prepare ${name} -f, or see kubectl loop diagnose upload/${name}.`);
  return 0;
}
