/**
 * Builds the pod of a Job. Two containers share the work on strangers' media: `prepare`, the keeper, has the storage and its credentials,
 * fetches, hashes and stores, and opens no media; `decoder` runs ffmpeg and ffprobe and has nothing: no credentials, no
 * folder to write to, and of all media the one file, read-only. It is a sidecar, so it ends with the keeper. Pure: no
 * I/O, no clock.
 */
import { mediaLimitsEnv } from '../../media/limits.ts';
import type { PrepareTask } from '../../media/prepare/job/task.ts';
import { PREPARE_PORT } from '../../resources/common/names.ts';
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
  withDisk,
} from '../pods/security.ts';

export const TASK_VARIABLE = 'LOOPSTREAM_TASK';
export const DECODER_CONTAINER = 'decoder';

/** A folder with one socket, which the keeper makes. */
const SOCKET_DIR = '/run/loopstream';
const SOCKET_VOLUME = { name: 'cage', ...emptyDir(2 ** 20) };
const SOCKET = { name: 'LOOPSTREAM_DECODER_SOCKET', value: `${SOCKET_DIR}/decoder.sock` };
/** Where the keeper puts what the decoder is to read: a part of the scratch volume. */
const INPUT_DIR = '/var/lib/loopstream/input';
const INPUT_MOUNT = { name: 'tmp', mountPath: INPUT_DIR, subPath: 'input' };

/** Together what one container had: the keeper moves bytes, the decoder computes. */
const KEEPER_RESOURCES = { requests: { cpu: '50m', memory: '96Mi' }, limits: { cpu: '2', memory: '1Gi' } };
const DECODER_RESOURCES = { requests: { cpu: '200m', memory: '160Mi' }, limits: { cpu: '4', memory: '4Gi' } };
/** A sweep lists millions of objects. */
const SWEEP_RESOURCES = { requests: { cpu: '250m', memory: '256Mi' }, limits: { cpu: '4', memory: '4Gi' } };

/** A cloud's webhook that gives pods an identity is not to give the decoder one. */
const ANNOTATIONS = { 'eks.amazonaws.com/skip-containers': DECODER_CONTAINER };

/** An import makes the directories that others mount parts of, and a sweep looks everywhere. */
const findStorageUse = (task: PrepareTask): StorageUse =>
  task.action === 'rendition'
    ? [
        { key: 'renditions', readOnly: false },
        { key: task.sourceKey, readOnly: true },
      ]
    : 'all';

const keeper = (task: PrepareTask, settings: PodSettings, volumes: readonly object[]) => ({
  name: 'prepare',
  image: settings.image,
  args: ['prepare'],
  env: [
    ...commonEnv(settings),
    { name: TASK_VARIABLE, value: JSON.stringify(task) },
    { name: 'LOOPSTREAM_RESULT_FILE', value: RESULT_FILE },
    { name: 'LOOPSTREAM_ALLOW_PRIVATE_LINKS', value: String(settings.allowPrivateLinks) },
    { name: 'LOOPSTREAM_MAX_SOURCE_BYTES', value: String(settings.maxSourceBytes) },
    { name: 'LOOPSTREAM_FETCH_TIMEOUT_SECONDS', value: String(settings.fetchTimeoutSeconds) },
    { name: 'LOOPSTREAM_MIN_FETCH_BYTES_PER_SECOND', value: String(settings.minFetchBytesPerSecond) },
    ...mediaLimitsEnv(settings.mediaLimits),
    { name: 'LOOPSTREAM_HOST', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'LOOPSTREAM_PORT', value: String(PREPARE_PORT) },
    ...(task.action === 'sweep' ? [] : [SOCKET, { name: 'LOOPSTREAM_INPUT_DIR', value: INPUT_DIR }]),
  ],
  ports: [{ name: 'progress', containerPort: PREPARE_PORT, protocol: 'TCP' }],
  terminationMessagePath: RESULT_FILE,
  resources: withDisk(task.action === 'sweep' ? SWEEP_RESOURCES : KEEPER_RESOURCES, volumes),
  ...CONTAINER_SECURITY,
  volumeMounts: [
    ...commonMounts(settings, findStorageUse(task)),
    ...(task.action === 'sweep' ? [] : [INPUT_MOUNT, { name: SOCKET_VOLUME.name, mountPath: SOCKET_DIR }]),
  ],
});

/** The part of the media directory that the decoder sees: of a rendition the source, of an import nothing. */
const sourceMount = (task: PrepareTask, settings: PodSettings) =>
  task.action === 'rendition'
    ? storageMounts(settings, [{ key: task.sourceKey, readOnly: true }]).filter((mount) => 'subPath' in mount)
    : [];

const decoder = (task: PrepareTask, settings: PodSettings) => ({
  name: DECODER_CONTAINER,
  image: settings.image,
  args: ['decoder'],
  restartPolicy: 'Always',
  env: [{ name: 'LOOPSTREAM_LOG_LEVEL', value: settings.logLevel }, SOCKET, confineEnv(settings)],
  resources: withDisk(DECODER_RESOURCES),
  securityContext: { ...CONTAINER_SECURITY.securityContext, runAsUser: DECODER_ID, runAsGroup: DECODER_ID },
  volumeMounts: [
    { name: SOCKET_VOLUME.name, mountPath: SOCKET_DIR, readOnly: true },
    { ...INPUT_MOUNT, readOnly: true },
    ...sourceMount(task, settings),
  ],
});

/** The template of a Job's pods, without labels. */
export function buildJobPod(task: PrepareTask, settings: PodSettings) {
  const decodes = task.action !== 'sweep';
  const volumes = [...commonVolumes(settings, settings.scratchVolume, false), ...(decodes ? [SOCKET_VOLUME] : [])];
  return {
    annotations: ANNOTATIONS,
    spec: {
      ...POD_SECURITY,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 10,
      ...placement(settings.jobPlacement),
      ...(decodes && { initContainers: [decoder(task, settings)] }),
      containers: [keeper(task, settings, volumes)],
      volumes,
    },
  };
}
