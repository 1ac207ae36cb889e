// Plays commands of Tests/conformance through the package.

import { SeleneError, open } from '../../../build/node/package/selene.mjs';
import { play } from '../../wasm/conformance/commands.mjs';

await play({
  SeleneError,
  open,
  close: (scheduler) => scheduler.close(),
  drive: (scheduler, { signal, grace }) => scheduler.runForever({ signal, grace, ungoverned: true }),
  exit: () => process.exit(0),
});
