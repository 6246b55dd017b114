/** Declares the operations on scenes. The list of tools has no room for theirs, so an agent names a scene that a person has made. Pure: no I/O, no clock. */
import { EXAMPLE } from '../../lib/examples.ts';
import {
  change,
  created,
  createOperationBuilder,
  DRY_RUN,
  deleted,
  FILTERED,
  OWNED,
  PAGED,
  page,
  record,
} from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { SCENE_LIST } from './list.ts';
import { Scene, SceneChange, SceneCreate, SceneUpdate } from './record.ts';
import type { SceneService } from './service.ts';

const operation = createOperationBuilder<{ scenes: SceneService }>({
  tag: 'scenes',
  object: {
    idName: 'Scene id',
    listTool: 'list_scenes',
    exampleId: EXAMPLE.scene,
    notFound: 'scene_not_found',
  },
});

const exampleInput: SceneCreate = {
  name: 'Evening',
  layers: [{ text: '{{item.title}} – {{item.artist}}', anchor: 'BottomLeft', show: { firstSeconds: 10 } }],
};

export const exampleScene: Scene = {
  id: EXAMPLE.scene,
  createdAt: EXAMPLE.createdAt,
  name: 'Evening',
  labels: { team: 'news' },
  version: 3,
  layers: [
    {
      text: '{{item.title}} – {{item.artist}}',
      imageUploadObjectID: null,
      anchor: 'BottomLeft',
      marginPercent: 4,
      sizePercent: 5,
      opacityPercent: 100,
      font: 'Sans',
      bold: false,
      color: '#FFFFFF',
      outlineColor: null,
      boxColor: null,
      show: { firstSeconds: 10, lastSeconds: null, everySeconds: null, forSeconds: null },
    },
  ],
  required: false,
  streamIDs: [EXAMPLE.stream],
};

export const sceneOperations = [
  operation({
    id: 'createScene',
    scope: 'write',
    http: 'POST /scenes',
    summary: 'Create a scene',
    description: 'Streams show it over their items once their `overlays` name it by `sceneID`.',
    input: SceneCreate,
    output: created(Scene, ({ id }) => `/scenes/${id}`),
    examples: { input: exampleInput, output: exampleScene },
    graphql: { description: 'Creates a scene.' },
    run: ({ scenes }, { accountId, input }) => scenes.create(accountId, input),
  }),

  operation({
    id: 'listScenes',
    scope: 'read',
    http: 'GET /scenes',
    summary: 'List scenes, newest first',
    description: `Returns the account’s scenes, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: listQuery(SCENE_LIST),
    output: page(Scene, 'SceneList'),
    examples: { output: exampleScene, parameters: { q: 'evening', sort: 'name' } },
    graphql: {
      description: 'Lists scenes, newest first unless orderBy says otherwise.',
      query: listQuery(SCENE_LIST),
    },
    run: ({ scenes }, { accountId, page, query, where }) => scenes.list(accountId, readListing(page, query), where),
  }),

  operation({
    id: 'getScene',
    scope: 'read',
    http: 'GET /scenes/{id}',
    summary: 'Get a scene',
    description: `Returns a scene with its layers. ${OWNED}`,
    output: record(Scene),
    examples: { output: exampleScene },
    graphql: { description: 'Returns a scene.' },
    run: ({ scenes }, { accountId, id }) => scenes.get(accountId, id),
  }),

  operation({
    id: 'updateScene',
    scope: 'write',
    http: 'PATCH /scenes/{id}',
    summary: 'Change a scene',
    description:
      'Changes the given fields; `layers` is replaced as a whole. Each stream of the scene shows the change where an item next ' +
      'begins, once its pictures are made. Fails with 409 `scene_version_conflict` and changes nothing if `version` is no ' +
      'longer the current version. `storageBytes` says what it takes; with `dryRun=true` you learn that first.',
    input: SceneUpdate,
    query: DRY_RUN,
    output: change(SceneChange, Scene),
    errors: ['scene_version_conflict', 'conflict'],
    examples: {
      input: { version: 3, name: 'Night' },
      output: { ...exampleScene, storageBytes: 0, dryRun: false },
      parameters: { dryRun: true },
    },
    graphql: { description: 'Changes a scene. Fails with `scene_version_conflict` if another change came first.' },
    run: ({ scenes }, { accountId, id, input, query }) => scenes.update(accountId, id, input, query),
  }),

  operation({
    id: 'deleteScene',
    scope: 'destructive',
    http: 'DELETE /scenes/{id}',
    summary: 'Delete a scene',
    description: 'Fails with 409 `scene_in_use` while a stream names it.',
    output: deleted,
    errors: ['scene_in_use', 'conflict'],
    graphql: { description: 'Deletes a scene. Fails with `scene_in_use` while a stream names it.' },
    run: ({ scenes }, { accountId, id }) => scenes.delete(accountId, id),
  }),
] as const;
