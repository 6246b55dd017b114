import { anyPlace } from '../../kit/system/contract.ts';
import { graphqlSuite } from './graphql.ts';

graphqlSuite(anyPlace());
