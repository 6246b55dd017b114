/** Prints the log of a stream's pod, or of the pod that prepares an upload. */
import { PODS, type Pod } from '../../kube/core.ts';
import { formatQuery, objectPath } from '../../kube/paths.ts';
import { type Kube, KubeError } from '../../kube/types.ts';
import { STREAM_LABEL, UPLOAD_LABEL } from '../../resources/common/names.ts';
import { CommandError, type Invocation, UsageError } from '../shell/call.ts';
import { parseReference } from '../shell/objects.ts';

export type LogFlags = { follow?: boolean; previous?: boolean; prepare?: string; tail?: string };

/** The containers whose words a person wants. A Job has a second one, which runs ffmpeg without credentials. */
export const MAIN_CONTAINERS: readonly string[] = ['streamer', 'prepare', 'probe', 'operator'];

export interface LogOptions {
  container?: string | undefined;
  follow?: boolean | undefined;
  previous?: boolean | undefined;
  tailLines?: number | undefined;
  limitBytes?: number | undefined;
}

export const logPath = ({ metadata }: Pick<Pod, 'metadata'>, options: LogOptions): string =>
  `${objectPath(PODS, metadata.namespace ?? '', metadata.name, 'log')}${formatQuery({ ...options })}`;

export const listContainers = ({ spec }: Pod): string[] =>
  ((spec.containers ?? []) as { name: string }[]).map(({ name }) => name);

export const findMainContainer = (pod: Pod): string | undefined =>
  listContainers(pod).find((name) => MAIN_CONTAINERS.includes(name));

const newestFirst = (a: Pod, b: Pod): number =>
  Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp);

/** Pods of a stream or an upload, the newest first. */
export async function listPodsOf(kube: Kube, namespace: string, label: string, name: string): Promise<Pod[]> {
  const pods = await kube.list(PODS, { namespace, labelSelector: `${label}=${name}` });
  return pods.sort(newestFirst);
}

async function findPod(
  kube: Kube,
  namespace: string,
  { args, flags }: Pick<Invocation<LogFlags>, 'args' | 'flags'>,
): Promise<Pod> {
  if (flags.prepare !== undefined) {
    const { name } = parseReference(flags.prepare, 'upload');
    const [pod] = await listPodsOf(kube, namespace, UPLOAD_LABEL, name);
    if (pod) return pod;
    throw new CommandError(
      `No pod prepares upload "${name}" now. Finished pods stay for an hour; see kubectl loop diagnose upload/${name}.`,
    );
  }
  const { name } = parseReference(args[0] ?? '', 'stream');
  const pods = await listPodsOf(kube, namespace, STREAM_LABEL, name);
  const pod = pods.find(({ metadata }) => !metadata.deletionTimestamp) ?? pods[0];
  if (pod) return pod;
  throw new CommandError(`Stream "${name}" has no pod in namespace "${namespace}". See kubectl loop diagnose ${name}.`);
}

export async function printLogs({ args, flags, cluster }: Invocation<LogFlags>): Promise<number> {
  const { follow, previous, prepare, tail } = flags;
  if ((prepare === undefined) === (args.length === 0))
    throw new UsageError('Give either the name of a stream or --prepare UPLOAD.');
  if (tail !== undefined && !/^\d+$/.test(tail)) throw new UsageError(`--tail is a number of lines, not "${tail}".`);
  const { kube, namespace } = cluster();
  const pod = await findPod(kube, namespace, { args, flags });
  const tailLines = tail === undefined ? undefined : Number(tail);
  const path = logPath(pod, { container: findMainContainer(pod), follow, previous, tailLines });
  try {
    for await (const chunk of await kube.open(path)) if (!process.stdout.write(chunk)) await drained();
  } catch (error) {
    if (previous && error instanceof KubeError && error.status === 400)
      throw new CommandError(
        `Pod "${pod.metadata.name}" has not restarted, so there is no earlier log. Leave --previous out.`,
      );
    throw error;
  }
  return 0;
}

const drained = (): Promise<void> => new Promise((resolve) => void process.stdout.once('drain', resolve));
