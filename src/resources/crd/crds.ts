/**
 * Builds the four CustomResourceDefinitions from the TypeBox types that also check requests. Properties that a type
 * cannot express are here: columns, names, and the rules of rules.ts. Pure: no I/O, no clock.
 */
import type { TSchema } from 'typebox';
import { CRDS } from '../../kube/core.ts';
import { apiVersionOf } from '../../kube/paths.ts';
import type { Resource } from '../../kube/types.ts';
import { GROUP, VERSION } from '../common/names.ts';
import { DESTINATIONS } from '../destination/resource.ts';
import { DestinationSpec, DestinationStatus } from '../destination/spec.ts';
import { PLAYLISTS } from '../playlist/resource.ts';
import { PlaylistSpec, PlaylistStatus } from '../playlist/spec.ts';
import { LOOPSTREAMS } from '../stream/resource.ts';
import { LoopStreamSpec, LoopStreamStatus } from '../stream/spec.ts';
import { UPLOADS } from '../upload/resource.ts';
import { UploadSpec, UploadStatus } from '../upload/spec.ts';
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
  resource: Pick<Resource, 'group' | 'version' | 'kind' | 'plural'>;
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
  description: 'Since when it exists.',
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

const loopStream: KindDefinition = {
  resource: LOOPSTREAMS,
  shortNames: ['loop'],
  description: 'A looping stream: media that is sent to one or more RTMP destinations for as long as it is asked for.',
  specDescription: 'What is asked for.',
  spec: LoopStreamSpec,
  status: LoopStreamStatus,
  scale: true,
  selectable: ['.spec.uploadRef', '.status.phase'],
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.phase', description: 'The state in one word.' },
    {
      name: 'Ready',
      type: 'boolean',
      jsonPath: '.status.ready',
      description: 'Whether nothing keeps it from starting.',
    },
    { name: 'Destination', type: 'string', jsonPath: '.status.destinations', description: 'Where it is sent.' },
    { name: 'Uptime', type: 'date', jsonPath: '.status.liveSince', description: 'How long it has been on air.' },
    { name: 'Restarts', type: 'integer', jsonPath: '.status.restarts', description: 'Restarts of its container.' },
    AGE,
    { name: 'Quality', type: 'string', jsonPath: '.spec.quality', description: 'Height of the picture.', wide: true },
    {
      name: 'Framerate',
      type: 'integer',
      jsonPath: '.spec.framerate',
      description: 'Frames per second.',
      wide: true,
    },
    { name: 'Upload', type: 'string', jsonPath: '.spec.uploadRef', description: 'What is looped.', wide: true },
    { name: 'Pod', type: 'string', jsonPath: '.status.podName', description: 'The pod that sends it.', wide: true },
    NAME,
    {
      name: 'Health',
      type: 'string',
      jsonPath: condition('Degraded', 'reason'),
      description: 'What is wrong while it is on air, in a word.',
      wide: true,
    },
    {
      name: 'Progress',
      type: 'string',
      jsonPath: condition('Progressing', 'message'),
      description: 'What it is doing or waiting for, in a sentence.',
      wide: true,
    },
  ],
  additions: LOOPSTREAM_RULES,
};

const playlist: KindDefinition = {
  resource: PLAYLISTS,
  shortNames: ['plist'],
  description: 'An ordered list of uploads that streams play. metadata.generation is its version.',
  specDescription: 'What is played, and in which order.',
  spec: PlaylistSpec,
  status: PlaylistStatus,
  selectable: ['.spec.kind'],
  columns: [
    { name: 'Kind', type: 'string', jsonPath: '.spec.kind', description: 'Which track it fills.' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode', description: 'The order in which items are played.' },
    { name: 'Version', type: 'integer', jsonPath: '.metadata.generation', description: 'Rises with each change.' },
    {
      name: 'Prepared',
      type: 'string',
      jsonPath: condition('Prepared'),
      description: 'Whether every item can be played.',
    },
    AGE,
    NAME,
  ],
  additions: PLAYLIST_RULES,
};

const upload: KindDefinition = {
  resource: UPLOADS,
  shortNames: ['upl'],
  description: 'A source file: imported once, and prepared for each quality and frame rate that a stream asks for.',
  specDescription: 'What to import, and what for.',
  spec: UploadSpec,
  status: UploadStatus,
  selectable: ['.spec.type', '.status.state'],
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state', description: 'Where it stands.' },
    { name: 'Progress', type: 'number', jsonPath: '.status.progress', description: 'Of the current state, 0 to 1.' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'Pictures or sound.' },
    {
      name: 'Seconds',
      type: 'number',
      jsonPath: '.status.media.durationSeconds',
      description: 'Length of the source.',
    },
    {
      name: 'Prepared',
      type: 'string',
      jsonPath: '.status.renditions[?(@.state=="ready")].profile',
      description: 'A profile that can be played.',
    },
    {
      name: 'Next try',
      type: 'string',
      jsonPath: '.status.waiting.nextTryAt',
      description: 'When the link is tried again, while its server is away.',
    },
    { name: 'Error', type: 'string', jsonPath: '.status.error.code', description: 'Why it failed.' },
    {
      name: 'Warning',
      type: 'string',
      jsonPath: '.status.warnings[*].code',
      description: 'What was changed of the file so that it plays; the first of several.',
    },
    AGE,
    {
      name: 'Bytes',
      type: 'integer',
      jsonPath: '.status.media.sizeBytes',
      description: 'Size of the source.',
      wide: true,
    },
    NAME,
    {
      name: 'Import',
      type: 'string',
      jsonPath: condition('Imported', 'message'),
      description: 'What its import is doing or waiting for, in a sentence.',
      wide: true,
    },
  ],
  additions: UPLOAD_RULES,
};

const destination: KindDefinition = {
  resource: DESTINATIONS,
  shortNames: ['dest'],
  description: 'Where a stream is sent. Its URL and key are in a Secret.',
  specDescription: 'Where the URL and the key are.',
  spec: DestinationSpec,
  status: DestinationStatus,
  selectable: ['.spec.secretName'],
  columns: [
    {
      name: 'Ready',
      type: 'string',
      jsonPath: condition('Ready'),
      description: 'Whether its Secret is there and usable.',
    },
    { name: 'URL', type: 'string', jsonPath: '.status.rtmpUrl', description: 'The ingest URL, without the key.' },
    AGE,
    {
      name: 'Tested',
      type: 'boolean',
      jsonPath: '.status.test.ok',
      description: 'Whether the last test of it was passed.',
      wide: true,
    },
    { name: 'Secret', type: 'string', jsonPath: '.spec.secretName', description: 'Where the key is.', wide: true },
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
      apiVersion: { type: 'string', description: `Version of this kind: ${GROUP}/${VERSION}.` },
      kind: { type: 'string', description: 'Name of this kind.' },
      // Kubernetes knows what metadata is; no more may be said of it than what its name is, which a rule points at.
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: { ...toStructural(spec, 'spec'), description: specDescription },
      status: { ...toStructural(status, 'status'), description: 'What is so, as the operator last saw it.' },
    },
  };
  return decorate(root, additions);
}

function crd(definition: KindDefinition): CustomResourceDefinition {
  const { resource, shortNames, columns, selectable, scale } = definition;
  const { group, version, kind, plural } = resource;
  return {
    apiVersion: apiVersionOf(CRDS),
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
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: buildSchema(definition) },
          subresources: {
            status: {},
            ...(scale ? { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } : {}),
          },
          selectableFields: selectable.map((jsonPath) => ({ jsonPath })),
          additionalPrinterColumns: columns.map(({ wide, ...column }) => (wide ? { ...column, priority: 1 } : column)),
        },
      ],
    },
  };
}

export interface CustomResourceDefinition {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    group: string;
    names: { kind: string; plural: string } & Record<string, unknown>;
    versions: { name: string; schema: { openAPIV3Schema: Structural }; [field: string]: unknown }[];
    [field: string]: unknown;
  };
}

/** All four, in the order in which their files are written. */
export const customResourceDefinitions = (): CustomResourceDefinition[] =>
  [loopStream, playlist, upload, destination].map(crd);
