/** GraphQL: uploads. */
import { GraphQLEnumType, GraphQLFloat, GraphQLInt, GraphQLObjectType, GraphQLString } from 'graphql';
import { byIdField, connectionField, DateTime, type Field, required } from '../graphql/relay.ts';
import type { Upload as UploadRecord } from './record.ts';
import type { UploadService } from './service.ts';
import { UPLOAD_STATES } from './spec.ts';

const enumOf = (name: string, values: readonly string[]) =>
  new GraphQLEnumType({ name, values: Object.fromEntries(values.map((value) => [value, { value }])) });

const Upload = new GraphQLObjectType<UploadRecord>({
  name: 'Upload',
  fields: {
    id: { type: required(GraphQLString), resolve: ({ objectID }) => objectID },
    objectID: { type: required(GraphQLString) },
    type: { type: required(enumOf('UploadType', ['VIDEO', 'AUDIO'])) },
    name: { type: required(GraphQLString) },
    state: { type: required(enumOf('UploadState', UPLOAD_STATES)) },
    progress: { type: required(GraphQLFloat) },
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
    error: {
      type: new GraphQLObjectType({
        name: 'UploadError',
        fields: { code: { type: required(GraphQLString) }, message: { type: required(GraphQLString) } },
      }),
    },
    createdAt: { type: required(DateTime) },
  },
});

export const uploadFields = (uploads: UploadService): Record<string, Field> => ({
  upload: byIdField({
    type: Upload,
    operation: 'getUpload',
    get: ({ principal }, id) => uploads.get(principal.accountId, id),
  }),
  uploads: connectionField<UploadRecord>({
    type: Upload,
    operation: 'listUploads',
    description: 'Uploads, newest first.',
    list: ({ principal }, args) => uploads.list(principal.accountId, args),
  }),
});
