/**
 * Builds the five CustomResourceDefinitions from the TypeBox types that also check requests. Properties that a type
 * cannot express are here: columns, names, and the rules of rules.ts. Pure: no I/O,
 * no clock.
 */
import type { TSchema } from 'typebox';
import { CRDS } from '../../kube/core.ts';
import { formatApiVersion } from '../../kube/paths.ts';
import type { Resource } from '../../kube/types.ts';
import { NOT_SEEN } from '../common/conditions.ts';
import { API_VERSION, VERSION } from '../common/names.ts';
import { PLATFORM_LIVE } from '../destination/platform.ts';
import { DESTINATIONS } from '../destination/resource.ts';
import { DestinationSpec, DestinationStatus } from '../destination/spec.ts';
import { PLAYLISTS } from '../playlist/resource.ts';
import { PlaylistSpec, PlaylistStatus } from '../playlist/spec.ts';
import { SCENES } from '../scene/resource.ts';
import { SceneSpec } from '../scene/spec.ts';
import { LOOPSTREAMS } from '../stream/resource.ts';
import { LoopStreamSpec, LoopStreamStatus } from '../stream/spec.ts';
import { ON_AIR_FOR_VIEWERS } from '../stream/viewers.ts';
import { UPLOADS } from '../upload/resource.ts';
import { UploadSpec, UploadStatus } from '../upload/spec.ts';
import { DESTINATION_RULES, LOOPSTREAM_RULES, PLAYLIST_RULES, SCENE_RULES, UPLOAD_RULES } from './rules.ts';
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
  resource: Pick<Resource, 'group' | 'kind' | 'plural'>;
  shortNames: string[];
  description: string;
  spec: TSchema;
  /** Absent where there is nothing to observe. */
  status?: TSchema;
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
const TITLE: Column = {
  name: 'Title',
  type: 'string',
  jsonPath: '.spec.displayName',
  description: 'Name shown to people.',
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
      name: 'Viewers',
      type: 'string',
      jsonPath: condition(ON_AIR_FOR_VIEWERS),
      description: 'Whether viewers see the stream, as far as its destinations say where they watch.',
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
    TITLE,
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
    TITLE,
  ],
  additions: PLAYLIST_RULES,
};

const upload: KindDefinition = {
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
    TITLE,
    {
      name: 'Bytes',
      type: 'integer',
      jsonPath: '.status.media.sizeBytes',
      description: 'Size of the source, in bytes.',
      wide: true,
    },
    {
      name: 'Quarantine',
      type: 'string',
      jsonPath: '.spec.quarantine.reason',
      description: 'Reason for which the upload is taken off every list.',
      wide: true,
    },
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
    TITLE,
    {
      name: 'Viewers',
      type: 'string',
      jsonPath: condition(PLATFORM_LIVE),
      description: 'Whether viewers see the stream that is sent there, where spec.platform says how to know.',
    },
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
  ],
  additions: DESTINATION_RULES,
};

const scene: KindDefinition = {
  resource: SCENES,
  shortNames: ['scn'],
  description: 'Texts and pictures that streams show over their items, shared by name.',
  specDescription: 'Layers to show.',
  spec: SceneSpec,
  selectable: [],
  columns: [
    {
      name: 'Layers',
      type: 'string',
      jsonPath: '.spec.layers[*].text',
      description: 'Text of the first layer that has one.',
    },
    {
      name: 'Required',
      type: 'boolean',
      jsonPath: '.spec.required',
      description: 'True if an item is left out until its overlays are prepared.',
    },
    AGE,
    TITLE,
  ],
  additions: SCENE_RULES,
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
      apiVersion: { type: 'string', description: `Version of this kind, such as ${API_VERSION}.` },
      kind: { type: 'string', description: 'Name of this kind.' },
      // Kubernetes knows what metadata is; no more may be said of it than what its name is, which a rule points at.
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: { ...toStructural(spec, 'spec'), description: specDescription },
      ...(status && {
        status: {
          ...toStructural(status, 'status'),
          description: 'Observed state, as the operator last reported it.',
          default: { conditions: [NOT_SEEN] },
        },
      }),
    },
  };
  return decorate(root, additions);
}

function buildVersion(definition: KindDefinition): CrdVersion {
  const { columns, selectable, scale, status } = definition;
  return {
    name: VERSION,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: buildSchema(definition) },
    subresources: {
      ...(status && { status: {} }),
      ...(scale ? { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } : {}),
    },
    selectableFields: selectable.map((jsonPath) => ({ jsonPath })),
    additionalPrinterColumns: columns.map(({ wide, ...column }) => (wide ? { ...column, priority: 1 } : column)),
  };
}

function buildCrd(definition: KindDefinition): CustomResourceDefinition {
  const { resource, shortNames } = definition;
  const { group, kind, plural } = resource;
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
      versions: [buildVersion(definition)],
    },
  };
}

interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema: { openAPIV3Schema: Structural };
  subresources: object;
  selectableFields: { jsonPath: string }[];
  additionalPrinterColumns: (Omit<Column, 'wide'> & { priority?: number })[];
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
  };
}

/** All five, in the order in which their files are written. */
export const customResourceDefinitions = (): CustomResourceDefinition[] =>
  [loopStream, playlist, upload, destination, scene].map(buildCrd);
