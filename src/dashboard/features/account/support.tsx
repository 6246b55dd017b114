/** Says whom to ask, also to those who have not signed in. */
import { SupportLink } from '../../ui/supportLink.tsx';
import { useOptions } from './queries.ts';

export const Support = () => <SupportLink url={useOptions()?.supportUrl} />;
