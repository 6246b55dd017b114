/** Declares the operations on scenes. Pure: no I/O, no clock. */
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
  isOpenToLimitedKeys: true,
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

function describeScene({ name, id, version, layers, streamIDs }: Scene): string {
  const shown = streamIDs.length === 0 ? 'no stream shows it' : `shown by ${streamIDs.join(', ')}`;
  const count = layers.length === 1 ? '1 layer' : `${layers.length} layers`;
  return `Scene "${name}" (${id}) is at version ${version} with ${count}; ${shown}.`;
}

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
    mcp: {
      title: 'Create a scene',
      description:
        'Creates texts and pictures that several streams show over their items: name it in `overlays` of update_stream, by sceneID.',
      summarize: describeScene,
    },
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
    mcp: {
      query: listQuery(SCENE_LIST, 'short'),
      title: 'List scenes',
      description: 'Lists the account’s scenes, newest first, optionally filtered by a word in the name.',
    },
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
    mcp: {
      title: 'Get a scene',
      description: 'Returns a scene with its layers, and the streams that show it.',
      summarize: describeScene,
    },
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
    mcp: {
      title: 'Change a scene',
      description:
        'Changes name, labels or layers of a scene. Each of its streams shows the change where an item next begins. Nothing changes if ' +
        '`version` is no longer the current version. With `dryRun` true, `storageBytes` says what it takes.',
      summarize: ({ dryRun, storageBytes, ...scene }) => {
        const takes = storageBytes > 0 ? ` It takes about ${storageBytes} bytes of storage.` : '';
        return dryRun ? `Nothing was changed.${takes}` : `${describeScene(scene)}${takes}`;
      },
      isRepeatable: true,
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
    mcp: {
      title: 'Delete a scene',
      description: 'Deletes a scene. Fails while a stream shows it.',
    },
    graphql: { description: 'Deletes a scene. Fails with `scene_in_use` while a stream names it.' },
    run: ({ scenes }, { accountId, id }) => scenes.delete(accountId, id),
  }),
] as const;
