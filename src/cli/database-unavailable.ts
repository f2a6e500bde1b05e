import { LauncherError } from './launcher-error.js';

/** The database may still come up: the connection is refused, or the server reports that it is starting. */
export class DatabaseUnavailable extends LauncherError {}
