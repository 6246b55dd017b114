import { anyPlace } from '../support/contract.ts';
import { restSuite } from './rest.ts';

restSuite(anyPlace());
