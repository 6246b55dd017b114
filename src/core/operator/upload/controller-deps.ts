/** Declares what the controller of uploads depends on. */

import type { PrepareProgress } from '../../protocol/task.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import type { Admission } from './admission.ts';

export interface UploadControllerDeps extends ControllerDeps {
  admission: Admission;
  /** The last answers of the active Jobs, by UID. */
  progress: ReadonlyMap<string, PrepareProgress>;
  /** How long a rendition stays that no stream asks for, in milliseconds. */
  keepUnusedMs: number;
  /** Of prepared media that an account may have. */
  maxPreparedBytes: number;
}
