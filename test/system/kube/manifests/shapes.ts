/**
 * Defines invalid manifests with one mistake each. A manifest has the API server's expected error and, where REST can make the mistake too,
 * the same mistake as a request.
 */
import { formatApiVersion } from '../../../../src/core/kube/paths.ts';
import type { Resource } from '../../../../src/core/kube/types.ts';
import { DESTINATIONS } from '../../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../../src/core/resources/playlist/resource.ts';
import { SCENES } from '../../../../src/core/resources/scene/resource.ts';
import { LOOPSTREAMS } from '../../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../../src/core/resources/upload/resource.ts';

export interface Bad {
  kind: Resource<never>;
  spec?: unknown;
  name?: string;
  /** The field in the API server's error. */
  field: string;
  sentence: string;
  /** The same mistake through REST; `sentence` where the contract has other values to choose from. */
  rest?: { path: string; body: object; field: string; sentence?: RegExp };
}

export const object = ({ kind, spec, name = 'bad' }: Pick<Bad, 'kind' | 'spec' | 'name'>) => ({
  apiVersion: formatApiVersion(kind as Resource),
  kind: kind.kind,
  metadata: { name },
  spec,
});

export const sentence = (rules: readonly { sentence: string }[], at = 0): string => rules[at]?.sentence ?? '';
export const STREAM = LOOPSTREAMS as Resource<never>;
export const PLAYLIST = PLAYLISTS as Resource<never>;
export const UPLOAD = UPLOADS as Resource<never>;
export const DESTINATION = DESTINATIONS as Resource<never>;
export const SCENE = SCENES as Resource<never>;
