/**
 * Lists every name that the API server, the operator and the pods must agree on. Nothing else in the project spells one
 * out. Pure: no I/O, no clock.
 */

export const GROUP = 'loopstream.dev';
export const VERSION = 'v1beta1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Names of the CustomResourceDefinitions. */
export const DEFINITION_NAMES = ['loopstreams', 'playlists', 'uploads', 'destinations'].map(
  (plural) => `${plural}.${GROUP}`,
);

/** The account that owns a resource; the API shows an account only what carries its label. */
export const ACCOUNT_LABEL = `${GROUP}/account`;
/** Begins the labels that users give their objects: the label `team` of the API is `label.loopstream.dev/team` in Kubernetes. */
export const LABEL_PREFIX = `label.${GROUP}/`;
/** The LoopStream that a pod serves. */
export const STREAM_LABEL = `${GROUP}/stream`;
/** The Upload that a Job works for. */
export const UPLOAD_LABEL = `${GROUP}/upload`;
/**
 * On the pod of a Job: its task's action. NetworkPolicies use it to separate imports, which fetch links, from tasks
 * that read storage alone.
 */
export const TASK_LABEL = `${GROUP}/task`;
/** The component that a pod belongs to: `streamer`, `prepare` or `probe`. */
export const COMPONENT_LABEL = 'app.kubernetes.io/component';
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'loopstream';

/** Labels and annotations below these are the operator's, and nobody else's. */
export const OWN_PREFIXES = [`${GROUP}/`, 'app.kubernetes.io/'] as const;
/** How a stream's pod may be moved (spec.disruptionPolicy): a PodDisruptionBudget selects those with `Never`. */
export const DISRUPTION_LABEL = `${GROUP}/disruption`;

/** The streamer's Program (spec.ts) as JSON; the pod reads it as a file through the downward API. */
export const PROGRAM_ANNOTATION = `${GROUP}/program`;
/** When (RFC 3339) the pod was last handed another version of its program; what joins waits from then on. */
export const PROGRAM_CHANGED_ANNOTATION = `${GROUP}/program-changed-at`;
/** The latest version of a rendition's index that the streamer of a pod plays. Without it, 3. */
export const INDEX_VERSION_ANNOTATION = `${GROUP}/index-version`;
/** Hash of what the pod was built from, so that the operator sees a pod that no longer fits its stream. */
export const TEMPLATE_HASH_ANNOTATION = `${GROUP}/template-hash`;
/** The generation of the Upload that a Job was made for: a later one is a new try. */
export const GENERATION_ANNOTATION = `${GROUP}/generation`;
/**
 * On a LoopStream: a new value requests the next item of that track, once. One that begins with a time (RFC 3339)
 * expires.
 */
export const SKIP_ANNOTATIONS = { video: `${GROUP}/skip`, audio: `${GROUP}/skip-audio` } as const;
/** On a Destination: a new value requests a test of it, once. One that begins with a time (RFC 3339) expires. */
export const TEST_ANNOTATION = `${GROUP}/test`;
/** On a Playlist: the version that streams play, `{version, mode, items}` as JSON (resources/playlist/spec.ts). */
export const PUBLISHED_ANNOTATION = `${GROUP}/published`;
/** On a Playlist: its version, and the UID and generation that had it, as JSON (resources/playlist/version.ts). */
export const VERSION_ANNOTATION = `${GROUP}/version`;
/** On a Playlist: which request with an Idempotency-Key has made the current version, so that it is not made again. */
export const INTENT_ANNOTATION = `${GROUP}/intent`;
/**
 * On an object that the API server wrote, and on the pod of a stream: the header traceparent (W3C Trace Context) of the span that
 * wrote it. Only while tracing is on.
 */
export const TRACEPARENT_ANNOTATION = `${GROUP}/traceparent`;
/** On a LoopStream: what it plays now is public, at an address whose secret part this has as a hash (service/domain/timeline/public-token.ts). */
export const PUBLIC_NOW_ANNOTATION = `${GROUP}/public-now`;
/** On a LoopStream: staff locked its account, so it is suspended until they unlock it. */
export const SUSPENDED_ANNOTATION = `${GROUP}/account-suspended`;
/** On an Upload that a client sends: what it said of it at the beginning (tus, Upload-Metadata). */
export const UPLOAD_METADATA_ANNOTATION = `${GROUP}/upload-metadata`;
/**
 * On an Upload: when (RFC 3339) somebody last wanted to see what it looks like while nothing had been made that could be shown.
 * Its first minute is prepared for that.
 */
export const PREVIEW_ANNOTATION = `${GROUP}/preview-asked`;
/**
 * On an Upload: a new value requests one more try of its failed link. One that begins with a time (RFC 3339) expires.
 * On a Job: the value that it was made for. On a LoopStream: a new value requests an immediate retry of what Kubernetes
 * has refused.
 */
export const RETRY_ANNOTATION = `${GROUP}/retry`;
/** On the kept versions of a playlist. */
export const PLAYLIST_LABEL = `${GROUP}/playlist`;
/**
 * Set by the API server to make the operator reconcile a Destination whose Secret changed. On the pod of its test: the
 * resourceVersion of the Secret that is tested.
 */
export const SECRET_VERSION_ANNOTATION = `${GROUP}/secret-version`;

/** Name of the Secret that the API server makes for the account of a destination's platform. */
export const platformSecretName = (destination: string): string => `${destination}-platform`;

/** Holds a stream's pod until the time that it was on air is written down, as the Job controller does with its pods. */
export const POD_FINALIZER = `${GROUP}/time-on-air`;

/** Holds an Upload until its deletion is written down: only then its source may be deleted. */
export const UPLOAD_FINALIZER = `${GROUP}/source`;
/**
 * Holds a Destination until the Secrets that the API server made for it are deleted. A Secret names no owner: with one, a restored Secret,
 * whose owner has another UID by then, would be deleted with the only copy of the stream key.
 */
export const SECRET_FINALIZER = `${GROUP}/stream-key`;
/** Holds a Playlist until its kept versions are deleted, which name no owner for the same reason. */
export const VERSIONS_FINALIZER = `${GROUP}/versions`;
/** Name of the ConfigMap with the deleted Uploads that no sweep has written down yet, by UID. */
export const DELETED_UPLOADS = 'loopstream-deleted-uploads';

/** Holds a LoopStream until nothing of it is left on air. */
export const FINALIZER = `${GROUP}/off-air`;

/** Holds a LoopStream that is paid for until its last second on air is counted. */
export const COUNT_FINALIZER = `${GROUP}/time-counted`;
/** The condition by which billing lets a stream be on air (spec.readinessGates). */
export const CREDIT_CONDITION = 'CreditAvailable';

export const FIELD_MANAGER_METER = 'loopstream-meter';
export const FIELD_MANAGER_CREDIT = 'loopstream-credit';
export const FIELD_MANAGER_OPERATOR = 'loopstream-operator';
export const FIELD_MANAGER_PLATFORM = 'loopstream-platform';

/** Keys of a Destination's Secret; also the members of each destination in DESTINATIONS_KEY. */
export const SECRET_URL_KEY = 'rtmpUrl';
export const SECRET_KEY_KEY = 'rtmpKey';
/** The same, where the server asks for a login. */
export const SECRET_LOGIN_KEYS = ['rtmpUser', 'rtmpPassword'] as const;
/** The key of the Secret that `spec.platform` of a Destination names. */
export const SECRET_TOKEN_KEY = 'refreshToken';

/** A streamer pod listens here for the operator and the API server: /startupz, /healthz, /readyz, /stats, /preview.flv and SKIP_PATH. */
export const STREAMER_PORT = 9400;
/** And here for Prometheus, which is let in nowhere else: /metrics. */
export const STREAMER_METRICS_PORT = 9405;
/** The preview of a streamer without anything but keyframes, for those who compare pictures. */
export const KEYFRAMES_PATH = '/preview.flv?only=keyframes';
/** The path on which the operator makes a streamer go on to the next item. */
export const SKIP_PATH = '/control/skip';
/** The path on which the operator allows a streamer to publish, or forbids it again. */
export const RELEASE_PATH = '/control/release';
export const STOP_PATH = '/control/stop';
/** The operator's Service accepts the reports of a stream's pods at this path and the UID of the pod. */
export const REPORTS_PATH = '/reports';
/** The one port that the pod of an Upload's Job listens on: /progress. */
export const PREPARE_PORT = 9403;

/**
 * Returns the pod's name. It depends on the stream alone, so that no two operators can make the same pod twice. The
 * stream's Secret names the pod that publishes (an RTMP key takes one publisher). Kubernetes allows 253 characters for
 * a pod and for a LoopStream; CEL in the CRD keeps a stream's name at or below 57.
 */
export const podName = (streamName: string): string => `${streamName}-onair`;
/** A second one has this name while it takes over from the first, or the other way round. */
export const podNames = (streamName: string): readonly [string, string] => [
  podName(streamName),
  `${podName(streamName)}-b`,
];

/** The files with the program and with the pod's own UID, beside those of the Secret. */
export const PROGRAM_FILE = 'program.json';
export const POD_UID_FILE = 'podUid';
/** Name of the Secret that a stream's pods are given as files. */
export const streamSecretName = (streamUid: string): string => `stream-${streamUid}`;
/** In it: the token that the operator shows when it controls a pod, and the URL and key of each destination as JSON. */
export const CONTROL_TOKEN_KEY = 'token';
export const DESTINATIONS_KEY = 'destinations.json';
/** A key of that Secret: the token with which the operator and the API server read a pod (view-token.ts). */
export const VIEW_TOKEN_KEY = 'viewToken';
/** Name of the Secret with the key of these tokens, and its key. */
export const VIEW_KEY_SECRET = 'stream-view-key';
export const VIEW_KEY_KEY = 'key';
/** In it: the UID of the only pod that may publish. */
export const PUBLISHER_KEY = 'publisher';
/** On a pod that took over: when. A change of the pod makes kubelet bring the files of its volumes up to date at once. */
export const ON_AIR_ANNOTATION = `${GROUP}/on-air`;

/** Name of the pod that tests a destination: it depends on the destination alone, so that there is one at a time. */
export const testPodName = (destinationUid: string): string => `test-${destinationUid}`;

/** Name of the Job that fetches and probes an upload's source. */
export const importJobName = (uploadName: string): string => `${uploadName}-import`;

/** Name of the Job that clears away media which nothing refers to. */
export const SWEEP_JOB = 'loopstream-sweep';

/** Name of the Job that makes one rendition of an upload, e.g. `upl-1-1080p30`. The name of an upload leaves room for 8 characters. */
export const renditionJobName = (uploadName: string, profile: string): string =>
  `${uploadName}-${profile.replace(/^sound-(\d+)-(\d)-(\d+)$/, 's$1$2$3').replace(/^\d+p\d+-([lcs][0-9a-z]{6})$/, '$1')}`;

/**
 * Name of the Job whose pods help to make a rendition, by the UID of the upload: Kubernetes allows 63 characters with the number of a
 * pod behind it, and an upload's own name may take 55.
 */
export const helpersJobName = (uploadUid: string, profile: string): string => `helpers-${uploadUid}-${profile}`;
