/** Defines a scene as clients see and send it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import { DisplayName, EFFECT, Time } from '../../lib/schemas.ts';
import { LayersInput, LayersOutput, RequiredInput } from '../streams/overlays.ts';

export const SceneCreate = Type.Object(
  { name: DisplayName, labels: LabelsInput, layers: LayersInput, required: RequiredInput },
  { title: 'SceneCreate', additionalProperties: false },
);
export type SceneCreate = Static<typeof SceneCreate>;

export const SceneUpdate = Type.Object(
  {
    version: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Version that the change applies to: the request fails if it is no longer the current one.',
    }),
    name: Type.Optional(DisplayName),
    labels: LabelsInput,
    layers: Type.Optional(LayersInput),
    required: RequiredInput,
  },
  { title: 'SceneUpdate', additionalProperties: false },
);
export type SceneUpdate = Static<typeof SceneUpdate>;

const fields = {
  id: Type.String(),
  createdAt: Time,
  name: Type.String(),
  labels: Labels,
  version: Type.Integer({ description: 'Version number. Each change of more than labels raises it.' }),
  layers: LayersOutput,
  required: Type.Boolean({ description: 'True if an item is left out until its overlays are prepared.' }),
  streamIDs: Type.Array(Type.String(), { description: 'Streams that show the scene.' }),
};

export const Scene = Type.Object(fields, { title: 'Scene' });
export type Scene = Static<typeof Scene>;

export const SceneChange = Type.Object(
  {
    ...fields,
    storageBytes: Type.Integer({
      description:
        'Estimate of the storage that the change takes once the items of all streams of the scene are prepared with it, in bytes.',
    }),
    dryRun: EFFECT.dryRun,
  },
  { title: 'SceneChange' },
);
export type SceneChange = Static<typeof SceneChange>;
