/** Defines the GraphQL fields of uploads. */

import { GraphQLFloat, GraphQLID } from 'graphql';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { type Upload as UploadRecord, Upload as UploadSchema, UploadTracks } from '../../domain/uploads/record.ts';
import { PREVIEW_STATES, UPLOAD_STATES } from '../../resources/upload/spec.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { inputType } from './input.ts';
import { innerSchema, outputType } from './output.ts';
import { Node, type NounFields } from './relay.ts';
import { enumType, required } from './scalars.ts';
import { enumFilter, IDFilter, NumberFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const UploadType = enumType(
  'UploadType',
  ['VIDEO', 'AUDIO'],
  'Media to import from the source: video, or sound alone.',
);
const State = enumType('UploadState', UPLOAD_STATES);

const inUpload = (name: string, property: string, options?: Parameters<typeof outputType>[2]) =>
  outputType(name, innerSchema(UploadSchema, property), options);

const Upload = outputType<UploadRecord>('Upload', UploadSchema, {
  interfaces: [Node],
  types: {
    type: UploadType,
    state: State,
    // A file may be larger than GraphQL's 32-bit Int.
    sizeBytes: GraphQLFloat,
    video: inUpload('UploadVideo', 'video'),
    audio: inUpload('UploadAudio', 'audio'),
    tracks: inUpload('UploadTracks', 'tracks'),
    declaredTracks: inUpload('UploadTrack', 'declaredTracks', {
      types: { kind: UploadType },
      describe: { index: true, playable: true, automatic: true },
    }),
    preview: enumType(
      'UploadPreview',
      PREVIEW_STATES,
      'State of the one-minute preview. Null if nobody has requested it.',
    ),
    warnings: inUpload('UploadWarning', 'warnings'),
    waiting: inUpload('UploadWaiting', 'waiting', {
      describe: { message: true, since: true, nextTryAt: true, until: true, tries: true },
    }),
    error: inUpload('UploadError', 'error'),
  },
  describe: {
    progress: true,
    tracks: 'The chosen tracks. Null if none is chosen.',
    declaredTracks: 'Video and audio tracks of the file. Empty until it has been imported.',
    moreTracks: true,
    warnings: 'Changes made to the file so that it plays. Empty if there were none.',
    waiting: 'Retries of the import while the link’s server is unavailable.',
  },
  fields: {
    id: { type: required(GraphQLID), description: 'The same as objectID.', resolve: ({ objectID }) => objectID },
  },
});

const where = whereInput<UploadRecord>('UploadWhereInput', {
  id: { type: IDFilter, value: ({ objectID }) => objectID },
  objectID: { type: IDFilter },
  type: { type: enumFilter(UploadType) },
  name: { type: TextFilter },
  state: { type: enumFilter(State) },
  progress: { type: NumberFilter },
  sizeBytes: { type: NumberFilter },
  durationSeconds: { type: NumberFilter },
  createdAt: { type: TimeFilter },
});

const types: NounTypes = {
  outputs: { Upload },
  inputs: { type: UploadType, tracks: inputType('UploadTracksInput', UploadTracks) },
  lists: { Upload: { where } },
};

export const uploadFields = (services: Pick<Services, 'uploads'>): NounFields => ({
  ...operationFields(uploadOperations, services, types),
  node: (context, id) => {
    context.allow('getUpload');
    return { __typename: 'Upload', ...services.uploads.get(context.principal.accountId, id) };
  },
});
