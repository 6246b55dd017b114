/** Tests what the form of a scene sends, and what the page says of scenes. */
import { expect, test } from 'vitest';
import { NEW_TEXT, NO_OVERLAYS } from '../../../../../src/dashboard/features/overlays/layers.ts';
import {
  describeUse,
  findSceneChanges,
  findSceneMistake,
  formatScene,
} from '../../../../../src/dashboard/features/scenes/text.ts';
import { exampleScene } from '../../../../../src/service/domain/scenes/operations.ts';

const overlays = { layers: exampleScene.layers, sceneID: null, required: exampleScene.required };

test('an edit sends what differs alone', () => {
  const { name } = exampleScene;
  expect(findSceneChanges(exampleScene, { name: ` ${name} `, overlays })).toEqual({});
  expect(findSceneChanges(exampleScene, { name: 'Night', overlays })).toEqual({ name: 'Night' });
  const other = { ...overlays, layers: [NEW_TEXT], required: true };
  expect(findSceneChanges(exampleScene, { name, overlays: other })).toEqual({ layers: [NEW_TEXT], required: true });
});

test('a scene has a layer, without a mistake', () => {
  expect(findSceneMistake(NO_OVERLAYS)).toBe('Add a text or a picture.');
  expect(findSceneMistake({ ...overlays, layers: [{ ...NEW_TEXT, text: ' ' }] })).toContain('Enter a text');
  expect(findSceneMistake(overlays)).toBeNull();
});

test('its layers and streams are counted, and streams told of a change', () => {
  const layers = [NEW_TEXT, NEW_TEXT];
  expect(formatScene({ layers, streamIDs: [] })).toBe('2 layers · no stream shows it');
  expect(formatScene({ layers: [NEW_TEXT], streamIDs: ['a', 'b'] })).toBe('1 layer · shown by 2 streams');
  expect(describeUse(0)).toEqual([]);
  expect(describeUse(1)).toEqual(['1 stream shows the change where an item next begins, once its pictures are made.']);
});
