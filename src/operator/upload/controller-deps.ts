/** Declares what the controller of uploads depends on. */

import type { ControllerDeps } from '../caches/controller-deps.ts';
import type { Admission } from './admission.ts';

export interface UploadControllerDeps extends ControllerDeps {
  admission: Admission;
  /** How far the active Jobs are, by UID, as far as they could be asked. */
  fractions: ReadonlyMap<string, number>;
  /** How long a rendition stays that no stream asks for, in milliseconds. */
  keepUnusedMs: number;
  /** Of prepared media that an account may have. */
  maxPreparedBytes: number;
}
