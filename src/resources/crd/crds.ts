/**
 * Builds the four CustomResourceDefinitions from the TypeBox types that also check requests. Properties that a type
 * cannot express are here: columns, names, and the rules of rules.ts. The types are those of v1beta1;
 * v1alpha1 is derived (rename.ts). Pure: no I/O, no clock.
 */
import type { TSchema } from 'typebox';
import { CRDS } from '../../kube/core.ts';
import { formatApiVersion } from '../../kube/paths.ts';
import type { Resource } from '../../kube/types.ts';
import { NOT_SEEN } from '../common/conditions.ts';
import { API_VERSION, GROUP, VERSION } from '../common/names.ts';
import { DESTINATIONS } from '../destination/resource.ts';
import { DestinationSpec, DestinationStatus } from '../destination/spec.ts';
import { PLAYLISTS } from '../playlist/resource.ts';
import { PlaylistSpec, PlaylistStatus } from '../playlist/spec.ts';
import { LOOPSTREAMS } from '../stream/resource.ts';
import { LoopStreamSpec, LoopStreamStatus } from '../stream/spec.ts';
import { UPLOADS } from '../upload/resource.ts';
import { UploadSpec, UploadStatus } from '../upload/spec.ts';
import { type Kind, NAMES, type Version } from '../versions/names.ts';
import { renamePath, renameSchema } from './rename.ts';
import { DESTINATION_RULES, LOOPSTREAM_RULES, PLAYLIST_RULES, UPLOAD_RULES } from './rules.ts';
import { type Additions, decorate, type Structural, toStructural } from './schema.ts';

/** A column of `kubectl get`; `wide` columns only with -o wide. */
interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  description: string;
  wide?: boolean;
}

interface KindDefinition {
  kind: Kind;
  resource: Pick<Resource, 'group' | 'kind' | 'plural'>;
  shortNames: string[];
  description: string;
  spec: TSchema;
  status: TSchema;
  specDescription: string;
  columns: Column[];
  selectable: string[];
  additions: Additions;
  scale?: boolean;
}

const AGE: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since the object was created.',
};
const NAME: Column = {
  name: 'Name shown',
  type: 'string',
  jsonPath: '.spec.displayName',
  description: 'Name shown to people.',
  wide: true,
};

const condition = (type: string, field: 'status' | 'reason' | 'message' = 'status'): string =>
  `.status.conditions[?(@.type=="${type}")].${field}`;

const showReady = (description: string): Column => ({
  name: 'Ready',
  type: 'string',
  jsonPath: condition('Ready'),
  description,
});

const loopStream: KindDefinition = {
  kind: 'LoopStream',
  resource: LOOPSTREAMS,
  shortNames: ['loop'],
  description: 'A stream that loops media and sends it to one or more destinations.',
  specDescription: 'Desired state of the stream.',
  spec: LoopStreamSpec,
  status: LoopStreamStatus,
  scale: true,
  selectable: ['.spec.uploadName', '.status.phase'],
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.phase', description: 'State of the stream, in one word.' },
    showReady('True if the stream is on air as its spec says, or off air as its spec says.'),
    {
      name: 'Destination',
      type: 'string',
      jsonPath: '.status.destinationSummary',
      description: 'Names of the destinations.',
    },
    {
      name: 'Uptime',
      type: 'date',
      jsonPath: '.status.liveSince',
      description: 'Time since a destination began to accept media.',
    },
    {
      name: 'Restarts',
      type: 'integer',
      jsonPath: '.status.restarts',
      description: 'Restarts of the streamer container.',
    },
    AGE,
    { name: 'Quality', type: 'string', jsonPath: '.spec.quality', description: 'Height of the picture.', wide: true },
    {
      name: 'Framerate',
      type: 'integer',
      jsonPath: '.spec.framerate',
      description: 'Frames per second.',
      wide: true,
    },
    {
      name: 'Upload',
      type: 'string',
      jsonPath: '.spec.uploadName',
      description: 'Upload that the stream loops.',
      wide: true,
    },
    {
      name: 'Can start',
      type: 'boolean',
      jsonPath: '.status.canStart',
      description: 'True if nothing prevents the stream from starting.',
      wide: true,
    },
    { name: 'Pod', type: 'string', jsonPath: '.status.podName', description: 'Pod that sends the stream.', wide: true },
    NAME,
    {
      name: 'Health',
      type: 'string',
      jsonPath: condition('Degraded', 'reason'),
      description: 'Problem of the stream while it is on air, in one word.',
      wide: true,
    },
    {
      name: 'Progress',
      type: 'string',
      jsonPath: condition('Progressing', 'message'),
      description: 'Current or awaited step, as a sentence.',
      wide: true,
    },
  ],
  additions: LOOPSTREAM_RULES,
};

const playlist: KindDefinition = {
  kind: 'Playlist',
  resource: PLAYLISTS,
  shortNames: ['plist'],
  description: 'An ordered list of uploads for streams to play.',
  specDescription: 'Desired items and their order.',
  spec: PlaylistSpec,
  status: PlaylistStatus,
  selectable: ['.spec.track'],
  columns: [
    { name: 'Track', type: 'string', jsonPath: '.spec.track', description: 'Track that the playlist supplies.' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode', description: 'The order in which items are played.' },
    {
      name: 'Version',
      type: 'integer',
      jsonPath: '.status.version',
      description: 'Version. Each change of the spec raises it by one.',
    },
    showReady('True if at least one item can be played.'),
    {
      name: 'Prepared',
      type: 'string',
      jsonPath: condition('Prepared'),
      description: 'True if every item can be played.',
    },
    AGE,
    NAME,
  ],
  additions: PLAYLIST_RULES,
};

const upload: KindDefinition = {
  kind: 'Upload',
  resource: UPLOADS,
  shortNames: ['upl'],
  description:
    'A source file. The operator imports it once, and prepares it for each quality and frame rate that streams use.',
  specDescription: 'Source to import, and its limits.',
  spec: UploadSpec,
  status: UploadStatus,
  selectable: ['.spec.track', '.status.phase'],
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.phase', description: 'State of the upload.' },
    showReady('True if the upload can be played in each profile that streams ask for.'),
    {
      name: 'Progress',
      type: 'number',
      jsonPath: '.status.progress',
      description: 'Progress of the current state, from 0 to 1.',
    },
    {
      name: 'Track',
      type: 'string',
      jsonPath: '.spec.track',
      description: 'Media taken from the source: video or audio.',
    },
    {
      name: 'Seconds',
      type: 'number',
      jsonPath: '.status.media.durationSeconds',
      description: 'Length of the source, in seconds.',
    },
    {
      name: 'Prepared',
      type: 'string',
      jsonPath: '.status.renditions[?(@.state=="ready")].profile',
      description: 'Profile of a rendition that can be played.',
    },
    {
      name: 'Next try',
      type: 'string',
      jsonPath: '.status.waiting.nextTryAt',
      description: 'Time of the next attempt, while the link’s server is unavailable.',
    },
    { name: 'Error', type: 'string', jsonPath: '.status.error.code', description: 'Code of the failure.' },
    {
      name: 'Warning',
      type: 'string',
      jsonPath: '.status.warnings[*].code',
      description: 'Code of the first change made to the file so that it plays.',
    },
    AGE,
    {
      name: 'Bytes',
      type: 'integer',
      jsonPath: '.status.media.sizeBytes',
      description: 'Size of the source, in bytes.',
      wide: true,
    },
    NAME,
    {
      name: 'Import',
      type: 'string',
      jsonPath: condition('Imported', 'message'),
      description: 'Current or awaited step of the import, as a sentence.',
      wide: true,
    },
  ],
  additions: UPLOAD_RULES,
};

const destination: KindDefinition = {
  kind: 'Destination',
  resource: DESTINATIONS,
  shortNames: ['dest'],
  description: 'A server that streams are sent to. A Secret holds its URL and stream key.',
  specDescription: 'Reference to the URL and stream key.',
  spec: DestinationSpec,
  status: DestinationStatus,
  selectable: ['.spec.secretName'],
  columns: [
    showReady('True if the Secret exists and can be used.'),
    { name: 'URL', type: 'string', jsonPath: '.status.rtmpUrl', description: 'Ingest URL, without the stream key.' },
    AGE,
    {
      name: 'Tested',
      type: 'boolean',
      jsonPath: '.status.test.ok',
      description: 'True if the last test passed.',
      wide: true,
    },
    {
      name: 'Secret',
      type: 'string',
      jsonPath: '.spec.secretName',
      description: 'Secret that holds the URL and stream key.',
      wide: true,
    },
    NAME,
  ],
  additions: DESTINATION_RULES,
};

/**
 * The whole object: a structural schema names apiVersion, kind and metadata, so that `kubectl explain` can describe
 * them.
 */
function buildSchema({ description, spec, specDescription, status, additions }: KindDefinition): Structural {
  const root: Structural = {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      // The same in each version: kube-apiserver refuses two versions with the same selectable fields, but other schemas.
      apiVersion: { type: 'string', description: `Version of this kind, such as ${API_VERSION}.` },
      kind: { type: 'string', description: 'Name of this kind.' },
      // Kubernetes knows what metadata is; no more may be said of it than what its name is, which a rule points at.
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: { ...toStructural(spec, 'spec'), description: specDescription },
      status: {
        ...toStructural(status, 'status'),
        description: 'Observed state, as the operator last reported it.',
        default: { conditions: [NOT_SEEN] },
      },
    },
  };
  return decorate(root, additions);
}

/** v1beta1, which the types are of. */
function buildVersion(definition: KindDefinition): CrdVersion {
  const { columns, selectable, scale } = definition;
  return {
    name: VERSION,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: buildSchema(definition) },
    subresources: {
      status: {},
      ...(scale ? { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } : {}),
    },
    selectableFields: selectable.map((jsonPath) => ({ jsonPath })),
    additionalPrinterColumns: columns.map(({ wide, ...column }) => (wide ? { ...column, priority: 1 } : column)),
  };
}

/** v1alpha1: the same with other names of fields. */
function buildAlpha(beta: CrdVersion, { kind, resource }: KindDefinition): CrdVersion {
  const names = NAMES[kind];
  return {
    ...beta,
    name: 'v1alpha1',
    deprecated: true,
    // At most 256 characters of ASCII.
    deprecationWarning:
      `${GROUP}/v1alpha1 ${kind} is deprecated; write ${API_VERSION}: ` +
      `"kubectl get ${resource.plural}.${GROUP} NAME -o yaml" shows an object in it`,
    schema: { openAPIV3Schema: renameSchema(beta.schema.openAPIV3Schema, names) },
    selectableFields: beta.selectableFields.map(({ jsonPath }) => ({ jsonPath: renamePath(jsonPath, names) })),
    additionalPrinterColumns: beta.additionalPrinterColumns.map((column) => ({
      ...column,
      jsonPath: renamePath(column.jsonPath, names),
    })),
  };
}

function buildVersions(definition: KindDefinition, { storage = VERSION, alpha }: CrdOptions): CrdVersion[] {
  if (storage !== VERSION && !alpha)
    throw new TypeError(`${definition.kind} cannot be stored as ${storage} unless a webhook converts it.`);
  const beta = buildVersion(definition);
  const versions = alpha ? [beta, buildAlpha(beta, definition)] : [beta];
  return versions.map((version) => ({ ...version, storage: version.name === storage }));
}

function buildCrd(definition: KindDefinition, options: CrdOptions): CustomResourceDefinition {
  const { kind, resource, shortNames } = definition;
  const { group, plural } = resource;
  return {
    apiVersion: formatApiVersion(CRDS),
    kind: CRDS.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        // Not 'loopstream': kubectl takes a category for the kind of the same name, and `describe loopstream x` would fail.
        categories: ['onair'],
      },
      versions: buildVersions(definition, options),
      ...(options.alpha && { conversion: buildConversion(options.alpha.clientConfig) }),
    },
  };
}

interface CrdVersion {
  name: Version;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema: { openAPIV3Schema: Structural };
  subresources: object;
  selectableFields: { jsonPath: string }[];
  additionalPrinterColumns: (Omit<Column, 'wide'> & { priority?: number })[];
}

/** Where kube-apiserver finds a webhook: a Service or a URL, and the CA of its certificate (PEM in base64). */
export interface WebhookClientConfig {
  service?: { namespace: string; name: string; path?: string; port?: number };
  url?: string;
  caBundle?: string;
}

export interface CrdOptions {
  /** The version that Kubernetes stores. v1alpha1 needs `alpha`. */
  storage?: Version;
  /** If given, v1alpha1 is served beside v1beta1, and this webhook converts. */
  alpha?: { clientConfig: WebhookClientConfig };
}

export interface CustomResourceDefinition {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    group: string;
    scope: string;
    names: { kind: string; plural: string } & Record<string, unknown>;
    versions: CrdVersion[];
    conversion?: ReturnType<typeof buildConversion>;
  };
}

/** The part of a definition that makes kube-apiserver convert by the webhook. */
export const buildConversion = (clientConfig: WebhookClientConfig) => ({
  strategy: 'Webhook' as const,
  webhook: { clientConfig, conversionReviewVersions: ['v1'] },
});

/** All four, in the order in which their files are written. */
export const customResourceDefinitions = (options: CrdOptions = {}): CustomResourceDefinition[] =>
  [loopStream, playlist, upload, destination].map((definition) => buildCrd(definition, options));
