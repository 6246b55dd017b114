/** GraphQL: uploads. */

import { GraphQLFloat, GraphQLID, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import type { Upload as UploadRecord } from '../../domain/uploads/record.ts';
import { PREVIEW_STATES, UPLOAD_STATES } from '../../resources/upload/spec.ts';
import type { Services } from '../services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { Node, type NounFields } from './relay.ts';
import { DateTime, enumOf, listOf, required } from './scalars.ts';
import { enumFilter, IDFilter, NumberFilter, TextFilter, TimeFilter, whereInput } from './where.ts';

const UploadType = enumOf('UploadType', ['VIDEO', 'AUDIO'], 'Whether pictures or only sound are wanted from it.');
const State = enumOf('UploadState', UPLOAD_STATES);

const Upload = new GraphQLObjectType<UploadRecord>({
  name: 'Upload',
  interfaces: [Node],
  fields: {
    id: { type: required(GraphQLID), description: 'The same as objectID.', resolve: ({ objectID }) => objectID },
    objectID: { type: required(GraphQLID) },
    type: { type: required(UploadType) },
    name: { type: required(GraphQLString) },
    state: { type: required(State) },
    progress: { type: required(GraphQLFloat), description: 'Progress of the current state, 0 to 1.' },
    // A file may be larger than GraphQL's 32-bit Int counts.
    sizeBytes: { type: GraphQLFloat },
    durationSeconds: { type: GraphQLFloat },
    video: {
      type: new GraphQLObjectType({
        name: 'UploadVideo',
        fields: {
          codec: { type: required(GraphQLString) },
          width: { type: required(GraphQLInt) },
          height: { type: required(GraphQLInt) },
          framerate: { type: required(GraphQLFloat) },
        },
      }),
    },
    audio: {
      type: new GraphQLObjectType({
        name: 'UploadAudio',
        fields: {
          codec: { type: required(GraphQLString) },
          sampleRate: { type: required(GraphQLInt) },
          channels: { type: required(GraphQLInt) },
        },
      }),
    },
    preview: {
      type: enumOf('UploadPreview', PREVIEW_STATES, 'Whether its first minute can be seen; null: nobody has asked.'),
    },
    warnings: {
      type: listOf(
        new GraphQLObjectType({
          name: 'UploadWarning',
          fields: { code: { type: required(GraphQLString) }, message: { type: required(GraphQLString) } },
        }),
      ),
      description: 'What was changed of the file so that it plays. Empty when nothing was.',
    },
    waiting: {
      description: 'What the import waits for while the server of the link is away.',
      type: new GraphQLObjectType({
        name: 'UploadWaiting',
        fields: {
          message: { type: required(GraphQLString), description: 'What the server of the link did, for people.' },
          since: { type: required(DateTime), description: 'When it failed first.' },
          nextTryAt: { type: required(DateTime), description: 'When the link is tried again.' },
          until: { type: required(DateTime), description: 'When it is given up.' },
          tries: { type: required(GraphQLInt), description: 'How often it has failed.' },
        },
      }),
    },
    error: {
      type: new GraphQLObjectType({
        name: 'UploadError',
        fields: { code: { type: required(GraphQLString) }, message: { type: required(GraphQLString) } },
      }),
    },
    createdAt: { type: required(DateTime) },
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
  inputs: { type: UploadType },
  lists: { Upload: { where } },
};

export const uploadFields = (services: Pick<Services, 'uploads'>): NounFields => ({
  ...operationFields(uploadOperations, services, types),
  node: (context, id) => {
    context.allow('getUpload');
    return { __typename: 'Upload', ...services.uploads.get(context.principal.accountId, id) };
  },
});
