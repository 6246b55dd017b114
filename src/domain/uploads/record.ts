/** Defines an upload as clients see and send it. Pure: no I/O, no clock. */
import { type Static, type TSchema, Type } from 'typebox';
import { PREVIEW_STATES, UPLOAD_STATES } from '../../resources/upload/spec.ts';
import { DisplayName } from '../streams/record.ts';

const nullable = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);

const UploadType = Type.Enum(['VIDEO', 'AUDIO'], {
  description: 'Whether pictures or only sound are wanted from it.',
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
    progress: Type.Number({ description: 'Progress of the current state, 0 to 1.' }),
    sizeBytes: nullable(Type.Integer()),
    durationSeconds: nullable(Type.Number()),
    video: nullable(
      Type.Object({ codec: Type.String(), width: Type.Integer(), height: Type.Integer(), framerate: Type.Number() }),
    ),
    audio: nullable(Type.Object({ codec: Type.String(), sampleRate: Type.Integer(), channels: Type.Integer() })),
    preview: Type.Union([Type.Enum(PREVIEW_STATES), Type.Null()], {
      description:
        'Whether its first minute can be seen by `GET /v1/uploads/{objectID}/preview.flv`. Null: nobody has asked yet; it is ' +
        'prepared when somebody does.',
    }),
    warnings: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
        message: Type.String(),
      }),
      {
        description:
          'What was changed of the file so that it plays, e.g. a picture that is held while the sound goes on. Empty when nothing was.',
      },
    ),
    waiting: nullable(
      Type.Object(
        {
          message: Type.String({ description: 'What the server of the link did, for people.' }),
          since: Type.String({ format: 'date-time', description: 'When it failed first.' }),
          nextTryAt: Type.String({ format: 'date-time', description: 'When the link is tried again.' }),
          until: Type.String({ format: 'date-time', description: 'When it is given up.' }),
          tries: Type.Integer({ description: 'How often it has failed.' }),
        },
        { description: 'What the import waits for while the server of the link is away.' },
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
