import { anyPlace } from '../../kit/system/contract.ts';
import { restSuite } from './rest.ts';

restSuite(anyPlace());
