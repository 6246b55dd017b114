import { anyPlace } from '../support/contract.ts';
import { graphqlSuite } from './graphql.ts';

graphqlSuite(anyPlace());
