/**
 * Builds the pod of a Job. Two containers share the work on strangers' media: `prepare`, the keeper, has the storage and its credentials,
 * fetches, hashes and stores, and opens no media; `decoder` runs ffmpeg and ffprobe and has nothing: no credentials, no
 * folder to write to, and of all media the one file, read-only. It is a sidecar, so it ends with the keeper. Pure: no
 * I/O, no clock.
 */

import type { Pod } from '../../kube/core.ts';
import { OWN_ADDRESS, setting } from '../../protocol/environment.ts';
import { mediaLimitsEnv } from '../../protocol/media-limits.ts';
import type { RecordsTask } from '../../protocol/records.ts';
import { listSourceKeys, type PrepareTask } from '../../protocol/task.ts';
import { COMPONENT_LABEL, PREPARE_PORT } from '../../resources/common/names.ts';
import { changeRequests } from '../pods/requests.ts';
import {
  CONTAINER_SECURITY,
  commonEnv,
  commonMounts,
  commonVolumes,
  confineEnv,
  DECODER_ID,
  emptyDir,
  POD_SECURITY,
  type PodSettings,
  placement,
  RESULT_FILE,
  type StorageUse,
  storageMounts,
  TMP_PATH,
  withDisk,
} from '../pods/security.ts';

export const DECODER_CONTAINER = 'decoder';

/** A folder with one socket, which the keeper makes. */
const SOCKET_DIR = '/run/loopstream';
const SOCKET_VOLUME = { name: 'cage', ...emptyDir(2 ** 20) };
const SOCKET = setting('DECODER_SOCKET', `${SOCKET_DIR}/decoder.sock`);
/** Where the keeper puts what the decoder is to read: a part of the scratch volume. */
const INPUT_DIR = '/var/lib/loopstream/input';
const INPUT_MOUNT = { name: 'tmp', mountPath: INPUT_DIR, subPath: 'input' };

/** For whom a pod works: a stream that waits, a person who waits for a preview, nobody yet, or another pod. */
export type Priority = 'awaited' | 'preview' | 'background' | 'helper';

/**
 * Requests of processor time, the keeper's and the decoder's. Pods of a busy node share its time in the proportion of these, so work for
 * which nobody waits leaves most of it to the rest, and has less than a stream on air also where a kubelet rounds (cgroup v2 knows few small
 * weights). When a stream comes to wait for it, it is raised (raise.ts). A helper takes only what nobody else wants, and finds room on any node.
 */
const CPU_REQUESTS: Readonly<Record<Priority, readonly [keeper: string, decoder: string]>> = {
  awaited: ['50m', '200m'],
  preview: ['50m', '100m'],
  background: ['10m', '20m'],
  helper: ['1m', '1m'],
};

/** The keeper moves bytes, the decoder computes. */
const keeperResources = (priority: Priority) => ({
  requests: { cpu: CPU_REQUESTS[priority][0], memory: '96Mi' },
  limits: { cpu: '2', memory: '1Gi' },
});
/** The most processors that a pod computes on. */
export const DECODER_CPUS = 4;
const decoderResources = (priority: Priority) => ({
  requests: { cpu: CPU_REQUESTS[priority][1], memory: '160Mi' },
  limits: { cpu: String(DECODER_CPUS), memory: '4Gi' },
});
/** A sweep lists millions of objects. */
const SWEEP_RESOURCES = { requests: { cpu: '250m', memory: '256Mi' }, limits: { cpu: '4', memory: '4Gi' } };

/**
 * Spreads the pods over the nodes: each goes where the fewest are, since what they request says little of the processors that they use.
 * It is a wish, so one node is enough.
 */
const SPREAD = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { [COMPONENT_LABEL]: 'prepare' } },
    },
  ],
};

/** A cloud's webhook that gives pods an identity is not to give the decoder one. */
const ANNOTATIONS = { 'eks.amazonaws.com/skip-containers': DECODER_CONTAINER };

/** An import makes the directories that others mount parts of, and a sweep looks everywhere. */
const findStorageUse = (task: PrepareTask): StorageUse =>
  task.action === 'rendition' || task.action === 'range'
    ? [{ key: 'renditions', readOnly: false }, ...listSourceKeys(task).map((key) => ({ key, readOnly: true }))]
    : 'all';

const keeper = (
  task: PrepareTask,
  settings: PodSettings,
  priority: Priority,
  volumes: readonly object[],
  records: RecordsTask | undefined,
) => ({
  name: 'prepare',
  image: settings.prepareImage,
  args: ['prepare'],
  env: [
    ...commonEnv(settings),
    { name: 'TMPDIR', value: TMP_PATH },
    setting('TASK', JSON.stringify(task)),
    ...(records ? [setting('RECORDS', JSON.stringify(records))] : []),
    setting('RESULT_FILE', RESULT_FILE),
    ...(settings.ownRates ? [setting('OWN_RATES', 'true')] : []),
    setting('ALLOW_PRIVATE_LINKS', String(settings.allowPrivateLinks)),
    setting('MAX_SOURCE_BYTES', String(settings.maxSourceBytes)),
    setting('FETCH_TIMEOUT_SECONDS', String(settings.fetchTimeoutSeconds)),
    setting('MIN_FETCH_BYTES_PER_SECOND', String(settings.minFetchBytesPerSecond)),
    ...mediaLimitsEnv(settings.mediaLimits),
    OWN_ADDRESS,
    setting('PORT', String(PREPARE_PORT)),
    ...(task.action === 'sweep' ? [] : [SOCKET, setting('INPUT_DIR', INPUT_DIR)]),
  ],
  ports: [{ name: 'progress', containerPort: PREPARE_PORT, protocol: 'TCP' }],
  terminationMessagePath: RESULT_FILE,
  resources: withDisk(task.action === 'sweep' ? SWEEP_RESOURCES : keeperResources(priority), volumes),
  ...CONTAINER_SECURITY,
  volumeMounts: [
    ...commonMounts(settings, findStorageUse(task)),
    ...(task.action === 'sweep' ? [] : [INPUT_MOUNT, { name: SOCKET_VOLUME.name, mountPath: SOCKET_DIR }]),
  ],
});

/** The part of the media directory that the decoder sees: of a rendition its sources, of an import nothing. */
const sourceMount = (task: PrepareTask, settings: PodSettings) =>
  task.action === 'rendition' || task.action === 'range'
    ? storageMounts(
        settings,
        listSourceKeys(task).map((key) => ({ key, readOnly: true })),
      ).filter((mount) => 'subPath' in mount)
    : [];

const decoder = (task: PrepareTask, settings: PodSettings, priority: Priority) => ({
  name: DECODER_CONTAINER,
  image: settings.prepareImage,
  args: ['decoder'],
  restartPolicy: 'Always',
  env: [setting('LOG_LEVEL', settings.logLevel), SOCKET, confineEnv(settings)],
  resources: withDisk(decoderResources(priority)),
  securityContext: { ...CONTAINER_SECURITY.securityContext, runAsUser: DECODER_ID, runAsGroup: DECODER_ID },
  volumeMounts: [
    { name: SOCKET_VOLUME.name, mountPath: SOCKET_DIR, readOnly: true },
    { ...INPUT_MOUNT, readOnly: true },
    ...sourceMount(task, settings),
  ],
});

/** The template of a Job's pods, without labels. */
export function buildJobPod(task: PrepareTask, settings: PodSettings, priority: Priority, records?: RecordsTask) {
  const decodes = task.action !== 'sweep';
  const volumes = [...commonVolumes(settings, settings.scratchVolume, false), ...(decodes ? [SOCKET_VOLUME] : [])];
  return {
    annotations: ANNOTATIONS,
    spec: {
      ...POD_SECURITY,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 10,
      ...SPREAD,
      ...placement(settings.jobPlacement),
      ...(decodes && { initContainers: [decoder(task, settings, priority)] }),
      containers: [keeper(task, settings, priority, volumes, records)],
      volumes,
    },
  };
}

/** Returns the containers of a running pod as an awaited one has them; undefined where they are so. */
export const raiseRequests = (pod: Pod) =>
  changeRequests(pod, (container) => CPU_REQUESTS.awaited[container === DECODER_CONTAINER ? 1 : 0]);
