/** Defines the GraphQL fields of uploads. */

import { LOUDNESS_LIMITS } from '../../../core/resources/upload/loudness.ts';
import { PREVIEW_STATES, RENDITION_STATES, UPLOAD_STATES } from '../../../core/resources/upload/spec.ts';
import { UPLOAD_LIST } from '../../domain/uploads/list.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import {
  ITEM_OVERLAYS,
  UploadFromLinkResults as ResultsSchema,
  UploadFromLink,
  type Upload as UploadRecord,
  Upload as UploadSchema,
  UploadTracks,
} from '../../domain/uploads/record.ts';
import { UPLOAD_TYPES } from '../../domain/uploads/types.ts';
import type { Services } from '../setup/services.ts';
import { type NounTypes, operationFields } from './adapter.ts';
import { inputType } from './input.ts';
import { innerSchema, outputType } from './output.ts';
import { Node, type NounFields, nounOrder } from './relay.ts';
import { enumType } from './scalars.ts';
import { filtersOf, IDFilter, whereInput } from './where.ts';

const UploadType = enumType(
  'UploadType',
  UPLOAD_TYPES,
  'Media to import from the source: video, sound alone, or an image to draw over what plays.',
);
const State = enumType('UploadState', UPLOAD_STATES);

const inUpload = (name: string, property: string, options?: Parameters<typeof outputType>[2]) =>
  outputType(name, innerSchema(UploadSchema, property), options);

const UploadError = inUpload('UploadError', 'error');
const ItemOverlays = enumType('ItemOverlays', ITEM_OVERLAYS, 'Whether streams show their overlays over an item.');
const MadeState = enumType('UploadSoundState', RENDITION_STATES);

const Upload = outputType<UploadRecord>('Upload', UploadSchema, {
  interfaces: [Node],
  types: {
    type: UploadType,
    state: State,
    video: inUpload('UploadVideo', 'video'),
    audio: inUpload('UploadAudio', 'audio'),
    tracks: inUpload('UploadTracks', 'tracks'),
    declaredTracks: inUpload('UploadTrack', 'declaredTracks', {
      types: { kind: enumType('UploadTrackKind', ['VIDEO', 'AUDIO']) },
    }),
    preview: enumType(
      'UploadPreview',
      PREVIEW_STATES,
      'State of the one-minute preview. Null if nobody has requested it.',
    ),
    warnings: inUpload('UploadWarning', 'warnings'),
    waiting: inUpload('UploadWaiting', 'waiting', {}),
    quarantine: inUpload('UploadInQuarantine', 'quarantine'),
    loudness: inUpload('UploadLoudness', 'loudness'),
    sounds: inUpload('UploadSound', 'sounds', {
      types: {
        state: MadeState,
        limitedBy: enumType('UploadSoundLimit', LOUDNESS_LIMITS),
        error: UploadError,
      },
    }),
    looks: inUpload('UploadLook', 'looks', { types: { state: MadeState, error: UploadError } }),
    cards: inUpload('UploadCard', 'cards', { types: { state: MadeState, error: UploadError } }),
    overlays: ItemOverlays,
    error: UploadError,
  },
});

const FILTERS = ['objectID', 'type', 'name', 'state', 'progress', 'sizeBytes', 'durationSeconds', 'createdAt'];
const where = whereInput<UploadRecord>('UploadWhereInput', {
  ...filtersOf(Upload, FILTERS),
  id: { type: IDFilter, value: ({ objectID }) => objectID },
});

const UploadFromLinkResults = outputType('UploadFromLinkResults', ResultsSchema, {
  types: {
    data: outputType('UploadFromLinkResult', innerSchema(ResultsSchema, 'data'), {
      types: { upload: Upload, error: UploadError },
    }),
  },
});

const inputs = {
  state: State,
  type: UploadType,
  overlays: ItemOverlays,
  tracks: inputType('UploadTracksInput', UploadTracks),
};
const types: NounTypes = {
  outputs: { Upload, UploadFromLinkResults },
  inputs: { ...inputs, links: inputType('UploadLinkInput', UploadFromLink, inputs) },
  lists: { Upload: { where, order: nounOrder(UPLOAD_LIST) } },
};

export const uploadFields = (services: Pick<Services, 'uploads'>): NounFields => ({
  ...operationFields(uploadOperations, services, types),
  node: (context, id) => {
    context.allow('getUpload');
    return { __typename: 'Upload', ...services.uploads.get(context.principal.accountId, id) };
  },
});
