/** Defines the GraphQL fields of scenes. */
import { SCENE_LIST } from '../../domain/scenes/list.ts';
import { sceneOperations } from '../../domain/scenes/operations.ts';
import { type Scene as SceneRecord, Scene as SceneSchema } from '../../domain/scenes/record.ts';
import type { Services } from '../setup/services.ts';
import { operationFields } from './adapter.ts';
import { outputType } from './output.ts';
import { Node, type NounFields, nounOrder } from './relay.ts';
import { OverlayLayer, OverlayLayerInput } from './streams.ts';
import { filtersOf, whereInput } from './where.ts';

const Scene = outputType<SceneRecord>('Scene', SceneSchema, { interfaces: [Node], types: { layers: OverlayLayer } });

const FILTERS = ['id', 'name', 'version', 'required', 'createdAt'];

export const sceneFields = (services: Pick<Services, 'scenes'>): NounFields => ({
  ...operationFields(sceneOperations, services, {
    outputs: { Scene },
    inputs: { layers: OverlayLayerInput },
    lists: { Scene: { where: whereInput('SceneWhereInput', filtersOf(Scene, FILTERS)), order: nounOrder(SCENE_LIST) } },
  }),
  node: (context, id) => {
    context.allow('getScene');
    return { __typename: Scene.name, ...services.scenes.get(context.principal.accountId, id) };
  },
});
