// moot's plugin for opencode: every edit is checked before it is written, and the model is told who
// holds a file that it read.
// Written by `moot hook install opencode`, removed by `moot hook uninstall opencode`.
import { spawn } from "node:child_process"

const EDITS = new Set(["write", "edit", "multiedit", "patch", "apply_patch", "bash"])
const READS = new Set(["read"])
const TIMEOUT = 10000
// The same command lines that other tools have in their settings; only the first one may refuse.
const BEFORE = ""
const OTHERWISE = ""

const moot = (payload) =>
  new Promise((done) => {
    const command = payload.hook_event_name === "PreToolUse" ? BEFORE : OTHERWISE
    const child = spawn("sh", ["-c", command], { cwd: payload.cwd, timeout: TIMEOUT })
    let out = ""
    let err = ""
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.on("error", (error) => done({ code: -1, out, err: String(error) }))
    child.on("close", (code) => done({ code, out, err }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })

const context = (result) => {
  if (result.code !== 0 || !result.out.trim()) return ""
  try {
    return JSON.parse(result.out).hookSpecificOutput?.additionalContext ?? ""
  } catch {
    return ""
  }
}

export const Moot = async ({ directory }) => {
  const parents = new Map() // a sub-agent's session -> the session that started it
  const started = new Map() // session -> promise of what it is told at its start

  const root = (session) => {
    let found = session
    for (let depth = 0; parents.has(found) && depth < 20; depth += 1) found = parents.get(found)
    return found
  }
  const say = (event, session, more = {}) => {
    const child = parents.has(session) ? { agent_id: session } : {}
    return moot({ hook_event_name: event, session_id: root(session), cwd: directory, ...child, ...more })
  }
  const start = (session) => {
    const id = root(session)
    if (!started.has(id)) started.set(id, say("SessionStart", id).then(context))
    return started.get(id)
  }

  return {
    event: async ({ event }) => {
      const info = event?.properties?.info
      if (event?.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      const idle = event?.type === "session.idle" ? event.properties?.sessionID : undefined
      if (parents.has(idle)) await say("SubagentStop", idle)
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (!input?.sessionID) return
      const text = await start(input.sessionID)
      if (text) output.system.push(text)
    },
    "shell.env": async (input, output) => {
      if (input?.sessionID) output.env.MOOT_SESSION = `opencode:${root(input.sessionID)}`
    },
    "tool.execute.before": async (input, output) => {
      if (!EDITS.has(input.tool)) return
      await start(input.sessionID)
      const result = await say("PreToolUse", input.sessionID, {
        tool_name: input.tool,
        tool_input: output.args,
        tool_use_id: input.callID,
      })
      if (result.code !== 0) throw new Error("moot hook failed: " + (result.err.trim() || result.code))
      const answer = result.out.trim() ? JSON.parse(result.out) : {}
      if (answer.decision === "block") throw new Error(answer.reason)
    },
    "tool.execute.after": async (input, output) => {
      if (!EDITS.has(input.tool) && !READS.has(input.tool)) return
      const result = await say("PostToolUse", input.sessionID, {
        tool_name: input.tool,
        tool_input: input.args ?? {},
        tool_use_id: input.callID,
      })
      const text = context(result)
      if (text) output.output = `${output.output ?? ""}\n${text}`
    },
  }
}
