/**
 * What the log must not keep of requests, as an organization or a workspace says it. What both say holds for the
 * workspace: a workspace can ask for more, never for less.
 */
export interface LogRedaction {
  /** Names of headers whose values are not kept, in any case. */
  readonly headers?: readonly string[];
  /** Places in JSON bodies whose values are not kept: `$.messages[*].content`, `$..email`. */
  readonly json_paths?: readonly string[];
  /** What is not kept of any text in bodies, headers and paths, in RE2's syntax. */
  readonly patterns?: readonly string[];
}
