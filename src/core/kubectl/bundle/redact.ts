/**
 * Removes secrets from objects and texts for a support bundle. Objects of other kinds keep only the fields that are listed here; a
 * text loses what may grant access: of an address all but its host, and the value of anything that is named like a secret.
 * Pure: no I/O, no clock.
 */
import type { Container, ContainerStatus, Job, KubeEvent, Pod } from '../../kube/core.ts';
import type { KubeObject, ObjectMeta, Stored } from '../../kube/types.ts';
import { GROUP, UPLOAD_METADATA_ANNOTATION } from '../../resources/common/names.ts';

const REDACTED = '[redacted]';

/** Repetitions are bounded: a log is as long as its writer likes, and unbounded ones would take the square of that. */
const ADDRESS = /\b([a-z][a-z0-9+.-]{0,31}):\/\/([^\s"'<>\\]*)/gi;
const NAMED =
  /((?:rtmpkey|keyhint|streamkey|stream_key|api[_-]?key|access[_-]?key|token|secret|password|passphrase|passwd|pwd|signature|credential|streamid|authorization|cookie)[\w-]{0,64})(\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?)(?:(?:bearer|basic)\s{1,8})?([^\s"',;&}\\]+)/gi;
const BEARER = /\b(bearer|basic)\s{1,8}[\w.~+/=-]{8,}/gi;
/** A JSON web token, and a PEM block, wherever it stands. */
// linear-time: a token begins once in a word, and a block without an end reaches to the end.
const BARE =
  /(?<![\w-])eyJ[\w-]{8,2048}\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]{1,40}-----[\s\S]*?(?:-----END [A-Z ]{1,40}-----|$)/g;

/** Keeps the scheme, the host and the port: a path or a query may be all that grants access. */
function redactAddress(_: string, scheme: string, rest: string): string {
  const [authority = '', ...path] = rest.split(/(?=[/?#])/);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return `${scheme}://${host}${path.join('').length > 1 ? `/${REDACTED}` : path.join('')}`;
}

export const redactText = (text: string): string =>
  text
    .replaceAll(BARE, REDACTED)
    .replaceAll(ADDRESS, redactAddress)
    .replaceAll(BEARER, `$1 ${REDACTED}`)
    .replaceAll(NAMED, `$1$2${REDACTED}`);

/** Fields of our kinds that show a part of a secret. */
const SECRET_FIELDS = new Set(['rtmpKeyHint']);

/** The same value with its texts redacted. */
function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [
    name,
    SECRET_FIELDS.has(name)
      ? REDACTED
      : name === 'annotations'
        ? redactAnnotations(one as Record<string, string>)
        : redactDeep(one),
  ]);
  return Object.fromEntries(entries);
}

/** Annotations are anybody's, and `last-applied-configuration` repeats an object: only ours keep their values. */
function redactAnnotations(annotations: Record<string, string> | undefined): Record<string, string> {
  const isOurs = (name: string) => name.startsWith(`${GROUP}/`) && name !== UPLOAD_METADATA_ANNOTATION;
  return Object.fromEntries(
    Object.entries(annotations ?? {}).map(([name, value]) => [name, isOurs(name) ? redactText(value) : REDACTED]),
  );
}

function redactMetadata({ annotations, ...metadata }: ObjectMeta): unknown {
  return { ...metadata, ...(annotations && { annotations: redactAnnotations(annotations) }) };
}

/** An object of our kinds: its schema knows no secret, and its texts are redacted all the same. */
export const redactResource = ({ metadata, spec, status }: KubeObject): unknown => ({
  metadata: redactMetadata(metadata),
  spec: redactDeep(spec),
  status: redactDeep(status),
});

/** Roles are the first arguments of ours. Others may stand for anything. */
const summarizeContainer = ({ name, image, args, resources, env }: Container) => ({
  name,
  image,
  role: args?.[0]?.startsWith('-') ? undefined : redactText(args?.[0] ?? ''),
  resources,
  env: env?.map((one) => one.name),
});

const summarizeStatus = ({
  name,
  ready,
  restartCount,
  image,
  imageID,
  started,
  state,
  lastState,
}: ContainerStatus) => ({
  name,
  ready,
  restartCount,
  image,
  imageID,
  started,
  state: redactDeep(state),
  lastState: redactDeep(lastState),
});

/** A pod without the values of its environment, which anybody may have given a password. */
export function summarizePod({ metadata, spec, status }: Pod): unknown {
  return {
    metadata: redactMetadata(metadata),
    spec: {
      nodeName: spec.nodeName,
      restartPolicy: spec.restartPolicy,
      containers: spec.containers?.map(summarizeContainer) ?? [],
    },
    status: {
      phase: status?.phase,
      reason: status?.reason,
      message: redactDeep(status?.message),
      startTime: status?.startTime,
      conditions: redactDeep(status?.conditions),
      containerStatuses: status?.containerStatuses?.map(summarizeStatus),
      initContainerStatuses: status?.initContainerStatuses?.map(summarizeStatus),
    },
  };
}

export function summarizeJob({ metadata, spec, status }: Job): unknown {
  const { activeDeadlineSeconds, backoffLimit, completions, parallelism } = spec;
  return {
    metadata: redactMetadata(metadata),
    spec: { activeDeadlineSeconds, backoffLimit, completions, parallelism },
    status: redactDeep(status),
  };
}

export const summarizeEvent = (event: Stored<KubeEvent>): unknown => ({
  metadata: {
    name: event.metadata.name,
    namespace: event.metadata.namespace,
    creationTimestamp: event.metadata.creationTimestamp,
  },
  involvedObject: event.involvedObject,
  type: event.type,
  reason: event.reason,
  message: redactText(event.message ?? ''),
  count: event.count,
  firstTimestamp: event.firstTimestamp,
  lastTimestamp: event.lastTimestamp,
  eventTime: event.eventTime,
  source: event.source,
});
