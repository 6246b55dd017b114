// An RTMP server that asks for a login. A module of its own, so that the other programs of the tests need not be built anew.
module loopstream/rtmp-login

go 1.26.0

require github.com/bluenviron/gortmplib v1.0.1

require (
	github.com/abema/go-mp4 v1.7.1 // indirect
	github.com/bluenviron/mediacommon/v2 v2.9.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
)
