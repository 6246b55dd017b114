/** Declares the kind Playlist. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { ownKind } from '../common/resource.ts';
import type { PlaylistSpec, PlaylistStatus } from './spec.ts';

export type Playlist = Stored<KubeObject<PlaylistSpec, PlaylistStatus>>;
export const PLAYLISTS = ownKind<KubeObject<PlaylistSpec, PlaylistStatus>>('Playlist', 'playlists');
