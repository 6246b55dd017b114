/** Says that there is no page at an address, to somebody who has not signed in. */
import { Frame } from './frame.tsx';
import { SignInLink } from './signInLink.tsx';

export const UnknownPage = () => (
  <Frame
    title="Page not found"
    lead="There is no page at this address."
    below={<SignInLink to="/sign-in">Sign in</SignInLink>}
  />
);
