/** Declares the kind Upload. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { ownKind } from '../common/resource.ts';
import type { UploadSpec, UploadStatus } from './spec.ts';

export type Upload = Stored<KubeObject<UploadSpec, UploadStatus>>;
export const UPLOADS = ownKind<KubeObject<UploadSpec, UploadStatus>>('Upload', 'uploads');
