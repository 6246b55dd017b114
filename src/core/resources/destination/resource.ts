/** Declares the kind Destination. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { ownKind } from '../common/resource.ts';
import type { DestinationSpec, DestinationStatus } from './spec.ts';

export type Destination = Stored<KubeObject<DestinationSpec, DestinationStatus>>;
export const DESTINATIONS = ownKind<KubeObject<DestinationSpec, DestinationStatus>>('Destination', 'destinations');
