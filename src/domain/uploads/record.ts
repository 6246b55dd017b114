/** Defines an upload as clients see and send it. Pure: no I/O, no clock. */
import { type Static, type TSchema, Type } from 'typebox';
import { PREVIEW_STATES, UPLOAD_STATES } from '../../resources/upload/spec.ts';
import { DisplayName } from '../streams/record.ts';

const nullable = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);

const UploadType = Type.Enum(['VIDEO', 'AUDIO'], {
  description: 'The media to take from the source: video, or sound alone.',
});

export const UploadFromLink = Type.Object(
  {
    type: UploadType,
    url: Type.String({ minLength: 1, maxLength: 4096, description: 'Public http or https URL to import from.' }),
    name: Type.Optional(DisplayName),
  },
  { title: 'UploadFromLink', additionalProperties: false },
);
export type UploadFromLink = Static<typeof UploadFromLink>;

export const Upload = Type.Object(
  {
    objectID: Type.String(),
    type: UploadType,
    name: Type.String(),
    state: Type.Enum(UPLOAD_STATES),
    progress: Type.Number({ description: 'Progress of the current state, from 0 to 1.' }),
    sizeBytes: nullable(Type.Integer()),
    durationSeconds: nullable(Type.Number()),
    video: nullable(
      Type.Object({ codec: Type.String(), width: Type.Integer(), height: Type.Integer(), framerate: Type.Number() }),
    ),
    audio: nullable(Type.Object({ codec: Type.String(), sampleRate: Type.Integer(), channels: Type.Integer() })),
    preview: Type.Union([Type.Enum(PREVIEW_STATES), Type.Null()], {
      description:
        'State of the one-minute preview at `GET /v1/uploads/{objectID}/preview.flv`. Null if nobody has requested it ' +
        'yet; the first request starts its preparation.',
    }),
    warnings: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
        message: Type.String(),
      }),
      {
        description:
          'Changes made to the file so that it plays, e.g. a picture that is held while the sound goes on. Empty if ' +
          'there were none.',
      },
    ),
    waiting: nullable(
      Type.Object(
        {
          message: Type.String({ description: 'Failure of the link’s server, as a sentence.' }),
          since: Type.String({ format: 'date-time', description: 'Time of the first failure.' }),
          nextTryAt: Type.String({ format: 'date-time', description: 'Time of the next attempt.' }),
          until: Type.String({ format: 'date-time', description: 'Time at which the import is given up.' }),
          tries: Type.Integer({ description: 'Number of failed attempts.' }),
        },
        { description: 'Retries of the import while the link’s server is unavailable.' },
      ),
    ),
    error: nullable(
      Type.Object({
        code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
        message: Type.String(),
      }),
    ),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Upload' },
);
export type Upload = Static<typeof Upload>;
