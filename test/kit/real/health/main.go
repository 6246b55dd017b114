// Judges Kubernetes objects as kstatus does, which Helm 4, Flux and kpt use, and by a health check of Argo CD, in Lua.
//
// Reads a JSON array of objects; writes a JSON array of {kstatus, argo} in the same order. The argument is the file of the check.
package main

import (
	"encoding/json"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type verdict struct {
	KStatus string `json:"kstatus"`
	Argo    string `json:"argo"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// toLua converts decoded JSON, as Argo CD does for the global obj.
func toLua(value any) lua.LValue {
	switch typed := value.(type) {
	case map[string]any:
		table := &lua.LTable{}
		for key, member := range typed {
			table.RawSetString(key, toLua(member))
		}
		return table
	case []any:
		table := &lua.LTable{}
		for _, element := range typed {
			table.Append(toLua(element))
		}
		return table
	case string:
		return lua.LString(typed)
	case bool:
		return lua.LBool(typed)
	case int64:
		return lua.LNumber(typed)
	case float64:
		return lua.LNumber(typed)
	}
	return lua.LNil
}

// argoHealth runs the check with the libraries that Argo CD opens, and for an object that is being deleted not at all.
func argoHealth(check string, object *unstructured.Unstructured) string {
	if object.GetDeletionTimestamp() != nil {
		return "Progressing"
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
	} {
		must(0, state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)))
	}
	state.SetGlobal("obj", toLua(object.Object))
	must(0, state.DoString(check))
	return state.Get(-1).(*lua.LTable).RawGetString("status").String()
}

func main() {
	check := string(must(os.ReadFile(os.Args[1])))
	var objects []json.RawMessage
	must(0, json.NewDecoder(os.Stdin).Decode(&objects))
	verdicts := []verdict{}
	for _, raw := range objects {
		object := &unstructured.Unstructured{}
		must(0, object.UnmarshalJSON(raw))
		verdicts = append(verdicts, verdict{must(status.Compute(object)).Status.String(), argoHealth(check, object)})
	}
	must(0, json.NewEncoder(os.Stdout).Encode(verdicts))
}
