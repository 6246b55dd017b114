/** Declares what lists of scenes are filtered and sorted by. Pure: no I/O, no clock. */
import type { Scene } from '../../../core/resources/scene/resource.ts';
import { resourceList } from '../limits/resource-list.ts';

export const SCENE_LIST = resourceList<Scene>({ nouns: 'scenes' });
